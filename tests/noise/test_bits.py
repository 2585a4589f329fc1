import copy
import inspect
import multiprocessing
import os
import pickle
import random
import threading

import numpy as np
import pytest

from discreet.noise import bits, discrete_laplace
from discreet.noise.bits import SecureSource, source


def drawn_in_child(read=lambda: source().words(4)):
    """Return the words that a forked child draws."""
    out, back = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(back, read().tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(back)
    with os.fdopen(out, "rb") as pipe:
        return pipe.read()


def fill_buffer():
    """Make sure that unused words lie in the buffer, which a fork would copy."""
    source().words(1)
    while bits._secure._buffer.size <= 100:
        source().words(1)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
class TestFork:
    def test_parent_and_children_draw_different_words(self):
        fill_buffer()
        streams = [drawn_in_child() for _ in range(4)] + [source().words(4).tobytes()]
        assert len(set(streams)) == 5
        assert all(len(s) == 32 for s in streams)

    def test_even_if_the_process_number_is_the_same(self, monkeypatch):
        monkeypatch.setattr(os, "getpid", lambda: 1)
        bits._secure.rekey()
        fill_buffer()
        assert drawn_in_child() != drawn_in_child() != source().words(4).tobytes()
        monkeypatch.undo()
        bits._secure.rekey()

    def test_grandchildren_too(self):
        fill_buffer()
        grandchild = drawn_in_child(lambda: np.frombuffer(drawn_in_child(), dtype=np.uint64))
        assert len(grandchild) == 32
        assert grandchild != source().words(4).tobytes()

    def test_a_source_of_ones_own_notices_by_the_process_number(self):
        own = SecureSource()
        own.words(1)
        assert drawn_in_child(lambda: own.words(4)) != own.words(4).tobytes()

    def test_pool_workers_draw_different_noise(self):
        fill_buffer()
        with multiprocessing.get_context("fork").Pool(3) as pool:
            noise = pool.map(_noise, range(3), chunksize=1)
        assert len({*noise, _noise(0)}) == 4


def _noise(_):
    return tuple(discrete_laplace(1e9, size=3).tolist())


def test_threads_draw_different_words():
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(source().words(4).tobytes())) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({*seen, source().words(4).tobytes()}) == 9


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_source_cannot_be_duplicated(duplicate):
    with pytest.raises(TypeError, match="cannot be copied"):
        duplicate(source())


def test_there_is_no_seed():
    assert not inspect.signature(SecureSource).parameters
    with pytest.raises(TypeError):
        SecureSource(1)


def test_global_seeds_have_no_effect():
    def draw():
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        return discrete_laplace(1e9, size=4).tolist()

    assert draw() != draw()


def test_words_belong_to_the_caller_and_leave_no_trace():
    own = SecureSource()
    first = own.words(10)
    shared = own._buffer.base if own._buffer.base is not None else own._buffer
    assert not np.isin(first, shared).any()
    kept = first.copy()
    first[:] = 7
    second = own.words(10)
    assert not np.isin(second, kept).any()
    assert (first == 7).all()


def test_handed_out_words_are_erased():
    own = SecureSource()
    own.words(1)
    buffer = own._buffer
    taken = own.words(50)
    assert taken.any()
    assert not buffer[:50].any()


def test_a_key_serves_only_so_many_words(monkeypatch):
    monkeypatch.setattr(bits, "WORDS_PER_KEY", 100)
    keys = []
    urandom = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: keys.append(n) or urandom(n))
    own = SecureSource()
    for _ in range(10):
        own.words(30)
    assert keys == [48] * 4
    assert own.words(10_000).size == 10_000  # more than a key may serve at once: never less than asked


@pytest.mark.parametrize("count", [0, 1, 2048, 2049, 4096, 1 << 17, 100_003])
def test_as_many_words_as_asked_and_none_twice(count):
    own = SecureSource()
    words = np.concatenate([own.words(count), own.words(count)])
    assert words.dtype == np.uint64
    assert words.size == 2 * count == np.unique(words).size


def test_the_key_stream_is_aes_ctr():
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    def cipher():
        return Cipher(algorithms.AES(bytes(range(32))), modes.CTR(bytes(16))).encryptor()

    whole = np.frombuffer(cipher().update(bytes(8 * 50_000)), dtype=np.uint64)
    assert (bits.encrypt_zeros(cipher(), 50_000) == whole).all()
    parts = cipher()
    assert (np.concatenate([bits.encrypt_zeros(parts, n) for n in (0, 1, 3, 49_996)]) == whole).all()


def test_production_is_private():
    assert source().private
    assert source() is bits._secure
