"""The fixture that counts instructions sees a loop, and counts the same work alike."""


def test_the_count_catches_a_loop(instructions):
    def loop(rounds):
        for _ in range(rounds):
            pass

    assert instructions(lambda: loop(10)) == instructions(lambda: loop(10))
    assert instructions(lambda: loop(1000)) > 50 * instructions(lambda: loop(10))
