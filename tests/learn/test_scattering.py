import numpy as np
import pytest
import torch
from torch import nn

import discreet.learn
from discreet.errors import InvalidParameter
from discreet.learn.scattering import FREQUENCY, WIDTH, Scattering, wavelets

torch.set_num_threads(1)


@pytest.fixture
def images():
    return torch.rand(12, 28, 28, generator=torch.Generator().manual_seed(5))


def test_shapes(images):
    transform = Scattering(28)
    assert transform.channels == 81
    assert transform(images).shape == (12, 81, 7, 7)
    assert transform(images.view(3, 4, 28, 28)).shape == (3, 4, 81, 7, 7)
    assert transform(images[:0]).shape == (0, 81, 7, 7)
    assert transform(images).dtype == torch.float32
    assert Scattering(32, scales=3, angles=6)(torch.zeros(1, 32, 32)).shape == (1, 1 + 18 + 108, 4, 4)


def test_features_are_a_function_of_one_record(images):
    """A batch put together from two is transformed as the two are: nothing passes from one image to another."""
    transform = Scattering(28)
    one, other = images[:5], images[5:]
    together = transform(torch.cat([one, other]))
    torch.testing.assert_close(together, torch.cat([transform(one), transform(other)]), rtol=1e-5, atol=1e-6)
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(transform(images[order]), together[order], rtol=1e-5, atol=1e-6)


def test_one_image_does_not_touch_the_others(images):
    transform = Scattering(28)
    plain = transform(images)
    for intruder in (float("nan"), float("inf"), 1e30, -1.0):
        changed = images.clone()
        changed[3] = intruder
        found = transform(changed)
        others = [i for i in range(12) if i != 3]
        assert torch.equal(found[others], plain[others])


def test_the_transform_keeps_nothing():
    transform = Scattering(28)
    before = {name: buffer.clone() for name, buffer in transform.named_buffers()}
    transform(torch.rand(4, 28, 28))
    assert all(torch.equal(buffer, before[name]) for name, buffer in transform.named_buffers())
    assert not list(transform.parameters())
    assert not transform.state_dict()


def test_shifted_images_have_shifted_features():
    transform = Scattering(28)
    image = torch.zeros(28, 28)
    image[10:16, 9:15] = torch.rand(6, 6, generator=torch.Generator().manual_seed(2))
    moved = transform(torch.roll(image, (4, -4), (0, 1)))
    torch.testing.assert_close(moved[:, 1:, :-1], transform(image)[:, :-1, 1:], rtol=1e-4, atol=1e-5)


def test_features_move_less_than_pixels():
    """A shift by one pixel is small beside the smoothing: that is what the average and the modulus are for."""
    transform = Scattering(28)
    image = torch.zeros(28, 28)
    image[6:22, 13] = 1.0
    moved = torch.roll(image, 1, 1)

    def change(a, b):
        return float((a - b).norm() / a.norm())

    assert change(transform(image), transform(moved)) < change(image, moved) / 2


def test_transposed_images_have_transposed_features_at_reflected_angles(images):
    transform = Scattering(28)
    plain, turned = transform(images), transform(images.mT)
    reflected = [(4 - turn) % 8 for turn in range(8)]
    pairs = [1 + 8 * scale + turn for scale in range(2) for turn in reflected]
    both = [17 + 8 * first + second for first in reflected for second in reflected]
    torch.testing.assert_close(turned, plain.mT[:, [0, *pairs, *both]], rtol=1e-4, atol=1e-5)


def test_a_constant_image_has_its_value_and_no_waves():
    found = Scattering(28)(torch.full((1, 28, 28), 0.7))[0]
    torch.testing.assert_close(found[0], torch.full((7, 7), 0.7), rtol=1e-5, atol=1e-6)
    assert found[1:].abs().max() < 1e-5


@pytest.mark.parametrize(("side", "scales", "angles"), [(32, 2, 8), (16, 1, 8), (40, 3, 6), (24, 2, 4)])
def test_wavelets_and_the_gaussian_share_the_energy(side, scales, angles):
    bank = wavelets(side, scales, angles)
    places = np.minimum(np.arange(side), side - np.arange(side))
    line = sum(np.exp(-(((places + k * side) / (WIDTH * 2 ** (scales - 1))) ** 2) / 2) for k in (-2, -1, 0, 1, 2))
    low = np.abs(np.fft.fft(line / line.sum()))
    power = (bank**2).sum((0, 1))
    backwards = np.roll(power[::-1, ::-1], 1, (0, 1))
    total = np.multiply.outer(low, low) ** 2 + (power + backwards) / 2
    assert total.max() <= 1 + 1e-9
    assert total.max() > 1 - 1e-6
    assert total.min() > 0.05


def test_no_more_energy_comes_out_than_went_in(images):
    transform = Scattering(28)
    pictures = torch.cat([images, images - 0.5, (images > 0.8).float()])
    mirrored = nn.functional.pad(pictures.unsqueeze(1), (2, 2, 2, 2), mode="reflect")
    energy = 16 * transform(pictures).square().sum((1, 2, 3))
    assert (energy <= 1.01 * mirrored.square().sum((1, 2, 3))).all()


def test_features_are_near_where_images_are_near(images):
    transform = Scattering(28)
    nudged = images + 0.01 * torch.randn(images.shape, generator=torch.Generator().manual_seed(3))
    mirrored = nn.functional.pad((nudged - images).unsqueeze(1), (2, 2, 2, 2), mode="reflect")
    change = 16 * (transform(nudged) - transform(images)).square().sum((1, 2, 3))
    assert (change <= 1.01 * mirrored.square().sum((1, 2, 3))).all()


def test_spectra_are_those_of_morlet_wavelets():
    """The formula in space, added up over periods, has the spectra that are used, up to one factor for all."""
    side, scales, angles = 24, 2, 4
    bank = wavelets(side, scales, angles)
    places = np.arange(-3 * side, 3 * side)
    down, across = places[:, None], places[None, :]
    ratios = []
    for scale in range(scales):
        for turn in range(angles):
            angle, width, slant = np.pi * turn / angles, WIDTH * 2**scale, 4 / angles
            along = np.cos(angle) * across + np.sin(angle) * down
            beside = np.cos(angle) * down - np.sin(angle) * across
            envelope = slant * np.exp(-(along**2 + (slant * beside) ** 2) / (2 * width**2)) / (2 * np.pi * width**2)
            wave = envelope * np.exp(1j * FREQUENCY / 2**scale * along)
            wavelet = wave - envelope * (wave.sum() / envelope.sum())
            spectrum = np.fft.fft2(wavelet.reshape(6, side, 6, side).sum((0, 2)))
            np.testing.assert_allclose(spectrum.imag, 0, atol=1e-9)
            ratios.append(bank[scale, turn] / np.where(np.abs(spectrum) > 1e-3, spectrum.real, np.nan))
    found = np.array(ratios)
    np.testing.assert_allclose(found[~np.isnan(found)], np.nanmedian(found), rtol=1e-6)


def test_paths_are_those_of_the_definition(images):
    """Two paths by plain convolutions over all pixels, sampled at the end alone; they differ by what sampling folds."""
    transform, bank = Scattering(28), wavelets(32, 2, 8)
    image = nn.functional.pad(images[None, :1], (2, 2, 2, 2), mode="reflect")[0, 0].double().numpy()
    # a wide blob: what an image of noise folds over is not small
    places = np.arange(32)
    image = image * 0.1 + np.exp(-((places[:, None] - 14) ** 2 + (places - 17) ** 2) / 20)
    inside = torch.from_numpy(image[2:-2, 2:-2]).float()
    mirrored = nn.functional.pad(inside[None, None], (2, 2, 2, 2), mode="reflect")[0, 0].double().numpy()

    def size(x, scale, turn, of=bank):
        return np.abs(np.fft.ifft2(np.fft.fft2(x) * of[scale, turn]))

    line = np.minimum(places, 32 - places)
    kernel = np.exp(-((line / (WIDTH * 2)) ** 2) / 2)
    kernel /= kernel.sum()
    low = np.multiply.outer(np.fft.fft(kernel), np.fft.fft(kernel))

    def smooth(x):
        return np.fft.ifft2(np.fft.fft2(x) * low).real[4:32:4, 4:32:4]

    found = transform(inside).double().numpy()
    np.testing.assert_allclose(found[0], smooth(mirrored), rtol=1e-4)
    np.testing.assert_allclose(found[1 + 3], smooth(size(mirrored, 0, 3)), rtol=1e-3, atol=1e-5)
    coarse = smooth(size(mirrored, 1, 5))
    assert np.abs(found[1 + 8 + 5] - coarse).max() < 0.03 * coarse.max()
    second = smooth(size(size(mirrored, 0, 2), 1, 6))
    assert np.abs(found[17 + 2 * 8 + 6] - second).max() < 0.1 * second.max()


def test_it_stands_in_front_of_a_private_model():
    from discreet.learn.sgd import private, train

    model = nn.Sequential(Scattering(8, angles=4), nn.GroupNorm(5, 25, affine=False), nn.Flatten(), nn.Linear(100, 2))
    data = torch.rand(60, 8, 8), torch.randint(0, 2, (60,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    parts = private(model, optimizer, data, records=60, epsilon=3, delta=1e-5, epochs=1, batch=20)
    run = train(parts, nn.CrossEntropyLoss())
    assert run.finished == 3
    assert run.loss.epsilon(1e-5) <= 3


def test_the_door_leads_to_it():
    assert discreet.learn.Scattering is Scattering


@pytest.mark.parametrize("wrong", [{"side": 30}, {"side": 4}, {"side": 0}, {"side": 28.0}, {"side": 28, "scales": 0}])
def test_sides_that_cannot_be_sampled_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        Scattering(**wrong)


def test_other_shapes_are_refused():
    with pytest.raises(InvalidParameter):
        Scattering(28)(torch.zeros(2, 32, 32))
