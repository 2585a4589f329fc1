"""What a report shows of a ledger: its own entry in words, of others what they cost."""

from discreet.accounting import Budget, PrivacyLoss
from discreet.ledger import Ledger, Purpose
from discreet.publishing.book import lines_of


def test_words_of_other_releases_are_not_shown(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        account = ledger.account("visits", budget=Budget(1))
        for why in ("the canary case", "Visits in 2026"):
            account.charge(PrivacyLoss.laplace(0.25), Purpose(why=why, fresh=True))
        numbers = [entry.number for entry in ledger.entries("visits") if entry.kind == "charge"]
        lines = lines_of(ledger, "visits", "epsilon", numbers[1])
        nobody = lines_of(ledger, "visits", "epsilon")
    assert [line.number for line in lines] == numbers
    assert [line.what for line in lines] == ["another release", "Visits in 2026"]
    assert [line.cost for line in lines] == ["epsilon 0.25"] * 2
    assert len({line.hash for line in lines}) == 2
    assert all("canary" not in line.what for line in nobody)
