"""A report draws what was released and what was held out, and shows itself in a notebook without fetching anything."""

import json
from dataclasses import replace

import pytest
import torch
from torch import nn

from discreet.errors import InvalidParameter, MissingExtra
from discreet.learn.sgd import TrainingReport, private, train


@pytest.fixture
def run():
    model = nn.Linear(3, 1)
    data = torch.zeros(40, 3), torch.zeros(40, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return train(
        private(model, optimizer, data, records=40, batch=10, steps=9, noise_multiplier=1, clipping="adaptive"),
        nn.MSELoss(),
    )


def test_all_curves_are_drawn_together(run):
    report = TrainingReport.of(run, 1e-5, held_out=[(9, 0.9), (3, 0.5)])
    names = [panel["title"]["text"] for panel in report.plot().to_dict()["concat"]]
    assert names == [
        "epsilon spent, at delta 1e-05",
        "accuracy, held out",
        "norm of the noisy gradient",
        "clip",
    ]
    assert report.curve("held_out") == ([3, 9], [0.5, 0.9])
    assert report.curve("clip")[0] == list(range(1, 10))
    assert len(set(report.curve("clip")[1])) > 1
    assert report.curve("epsilon")[1][-1] == report.epsilon
    assert json.loads(report.to_json())["held_out"] == [[3, 0.5], [9, 0.9]]


def test_without_held_out_numbers_there_is_no_panel_for_them(run):
    report = TrainingReport.of(run, 1e-5)
    assert len(report.plot().to_dict()["concat"]) == 3
    assert len(report.plot("norm").to_dict()["concat"]) == 1
    with pytest.raises(InvalidParameter, match="'held_out'"):
        report.plot("loss")


def test_long_curves_keep_their_end(run):
    report = TrainingReport.of(run, 1e-5)
    many = tuple(replace(report.moments[0], step=step) for step in range(1, 5001))
    chart = replace(report, moments=many).plot("norm").to_dict()
    points = chart["data"]["values"]
    assert len(points) < 500
    assert points[-1]["x"] == 5000


@pytest.mark.parametrize("step", [-1, 10])
def test_held_out_numbers_belong_to_steps_of_the_run(run, step):
    with pytest.raises(InvalidParameter, match="from 0 to 9"):
        TrainingReport.of(run, 1e-5, held_out=[(step, 0.5)])


def test_a_notebook_shows_words_and_curves_and_fetches_nothing(run):
    page = TrainingReport.of(run, 1e-5)._repr_html_()
    assert "9 of 9 steps" in page
    assert page.count("<svg") == 1
    for word in ("<script", "src=", "@import", "<link"):
        assert word not in page
    assert "http" not in page.replace("http://www.w3.org/", "")


def test_a_notebook_without_pictures_shows_words(run, monkeypatch):
    def missing(chart):
        raise MissingExtra("altair", "plots")

    monkeypatch.setattr("discreet.plots.svg", missing)
    page = TrainingReport.of(run, 1e-5)._repr_html_()
    assert "9 of 9 steps" in page
    assert "<svg" not in page


def test_a_run_that_has_not_begun_shows_words():
    model = nn.Linear(3, 1)
    parts = private(
        model,
        torch.optim.SGD(model.parameters(), lr=0.1),
        torch.zeros(20, 3),
        records=20,
        steps=2,
        noise_multiplier=1,
    )
    assert "0 of 2 steps" in TrainingReport.of(parts.run, 1e-5)._repr_html_()
