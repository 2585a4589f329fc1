"""Wavelet scattering: fixed image features that no data were looked at for.

Bruna and Mallat, "Invariant Scattering Convolution Networks", IEEE TPAMI 35, 2013; Oyallon and Mallat, "Deep
Roto-Translation Scattering for Object Classification", CVPR 2015. An image is convolved with Morlet wavelets of some
scales and angles, the modulus is taken, and once more with those of larger scales; what comes out is smoothed by a
Gaussian and sampled every ``2^scales`` pixels. The wavelets are formulas and each image is transformed alone, so the
features are a function of one record: computing them costs no privacy, and neighbours have neighbouring features.
Linear models on them learn privately what networks need much more data for (Tramer and Boneh, "Differentially Private
Learning Needs Better Features (or Much More Data)", ICLR 2021).
"""

import math
from functools import reduce
from operator import add, mul

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidParameter, MissingExtra

try:
    import torch
except ImportError:
    raise MissingExtra("torch", "learn") from None

from torch import Tensor, nn

__all__ = ["Scattering"]

Floats = npt.NDArray[np.float64]

WIDTH = 0.8
"""Deviation in pixels of the smallest wavelet's Gaussian; it doubles with each scale."""
FREQUENCY = 3 * math.pi / 4
"""Where the smallest wavelet's spectrum has its centre, in radians a pixel; it halves with each scale."""


class Scattering(nn.Module):
    """The scattering coefficients of square images, up to order two.

    Images of shape ``(..., side, side)`` become ``(..., channels, side / 2^scales, side / 2^scales)``, with the average
    first, then one channel for each wavelet, then one for each pair of wavelets with growing scale. Each image is
    mirrored at its edges by half a sampling step. The wavelets are scaled so that no layer enlarges distances: up to
    what sampling folds over, which is little, the sum of all squares times ``4^scales`` is at most that of the
    mirrored image. It has no parameters, and its place may be in a model or before it.

    >>> Scattering(28)(torch.zeros(5, 28, 28)).shape
    torch.Size([5, 81, 7, 7])
    """

    def __init__(self, side: int, *, scales: int = 2, angles: int = 8) -> None:
        super().__init__()
        for name, value in (("side", side), ("scales", scales), ("angles", angles)):
            if type(value) is not int or value < 1:
                raise InvalidParameter(f"{name} must be a whole number of at least 1, got {value!r}.")
        if side % 2**scales or side < 2 ** (scales + 1):
            raise InvalidParameter(
                f"side must be a multiple of 2^scales and at least twice that, got {side} and 2^{scales}. "
                "Pad the images, or take fewer scales."
            )
        self.side, self.scales, self.angles = side, scales, angles
        self.channels = 1 + scales * angles + scales * (scales - 1) // 2 * angles**2
        for finer in range(scales):
            known = (side + 2**scales) >> finer
            bank, matrix = wavelets(known, scales - finer, angles), smoothing(known, scales - finer)
            self.register_buffer(f"wavelets{finer}", torch.from_numpy(bank).to(torch.complex64), persistent=False)
            self.register_buffer(f"smoothing{finer}", torch.from_numpy(matrix).float(), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        """Return the coefficients of each image, which depend on that image alone."""
        if images.dim() < 2 or tuple(images.shape[-2:]) != (self.side, self.side):
            raise InvalidParameter(
                f"images must have the shape (..., {self.side}, {self.side}), got {tuple(images.shape)}."
            )
        if not images.numel():
            places = self.side >> self.scales
            return images.new_zeros(*images.shape[:-2], self.channels, places, places)
        edge = 2 ** (self.scales - 1)
        flat = images.reshape(-1, 1, self.side, self.side).to(self.get_buffer("smoothing0").dtype)
        plain = nn.functional.pad(flat, (edge,) * 4, mode="reflect")
        spectrum = torch.fft.fft2(plain)
        first, second = [], []
        for scale in range(self.scales):
            size = self._modulus(spectrum, scale, finer=0)
            first.append(self._smooth(size, scale))
            again = torch.fft.fft2(size)
            coarser = range(scale + 1, self.scales)
            second += [self._smooth(self._modulus(again, later, finer=scale), later) for later in coarser]
        found = torch.cat([self._smooth(plain, 0), *first, *second], dim=1)
        return found.reshape(*images.shape[:-2], *found.shape[1:])

    def _modulus(self, spectrum: Tensor, scale: int, *, finer: int) -> Tensor:
        """Return ``|x * psi|`` for all angles of a scale, sampled every ``2^scale`` pixels; x at every ``2^finer``."""
        step = 2 ** (scale - finer)
        waves, filters = spectrum.unsqueeze(2), self.get_buffer(f"wavelets{finer}")[scale - finer] / step**2
        passed = reduce(add, map(mul, _alike(waves, step), _alike(filters, step)))
        found: Tensor = torch.fft.ifft2(passed).abs().flatten(1, 2)
        return found

    def _smooth(self, values: Tensor, scale: int) -> Tensor:
        matrix = self.get_buffer(f"smoothing{scale}")
        return matrix @ values @ matrix.mT


def wavelets(side: int, scales: int, angles: int) -> Floats:
    """Return the spectra of the wavelets on a periodic grid, by scale and angle; they are real.

    A Morlet wavelet is a Gaussian times a wave, less as much of the Gaussian as makes its mean zero. All are scaled
    alike, so that at every frequency the power of the smoothing Gaussian and the mean over both signs of the wavelets'
    power are together at most 1.

    >>> bank = wavelets(32, 2, 8)
    >>> bank.shape, float(abs(bank[:, :, 0, 0]).max()) < 1e-12
    ((2, 8, 32, 32), True)
    """
    turns = [turn * math.pi / angles for turn in range(angles)]
    bank = np.array([[_morlet(side, scale, angle, 4 / angles) for angle in turns] for scale in range(scales)])
    line = np.abs(np.fft.fft(_gaussian(side, scales)))
    left = 1 - np.multiply.outer(line, line) ** 2
    left[0, 0] = 1.0  # the mean is left to the Gaussian alone
    power = (bank**2).sum((0, 1))
    both = (power + np.roll(power[::-1, ::-1], 1, (0, 1))) / 2
    scaled: Floats = bank / math.sqrt((both / left).max())
    return scaled


def smoothing(side: int, scales: int) -> Floats:
    """Return the matrix that smooths a mirrored line and samples it every ``2^scales`` places, inside its edges."""
    line, step = _gaussian(side, scales), 2**scales
    return np.array([np.roll(line, place) for place in range(step, side, step)])


def _morlet(side: int, scale: int, angle: float, slant: float) -> Floats:
    """Return the spectrum of a wavelet; as it is sampled in space, copies at distance ``2 pi`` add up."""
    width, frequency = WIDTH * 2**scale, FREQUENCY / 2**scale
    copies = 2 * math.pi * (np.arange(side)[:, None] / side + np.arange(-2, 2))
    down, across = copies[:, None, :, None], copies[None, :, None, :]
    along = math.cos(angle) * across + math.sin(angle) * down
    beside = (math.cos(angle) * down - math.sin(angle) * across) / slant
    wave, plain = (
        np.exp(-(width**2) / 2 * ((along - centre) ** 2 + beside**2)).sum((2, 3)) for centre in (frequency, 0.0)
    )
    found: Floats = wave - plain * (wave[0, 0] / plain[0, 0])
    return found


def _gaussian(side: int, scales: int) -> Floats:
    """Return the Gaussian that smooths, around the first place of a periodic line; it adds up to one."""
    places = np.arange(side)[:, None] + side * np.arange(-2, 2)
    plain = np.exp(-((places / (WIDTH * 2 ** (scales - 1))) ** 2) / 2).sum(1)
    found: Floats = plain / plain.sum()
    return found


def _alike(spectrum: Tensor, step: int) -> list[Tensor]:
    """Return the parts of a spectrum whose frequencies look alike where every ``step``-th sample is kept."""
    side = spectrum.shape[-1] // step
    parts = spectrum.reshape(*spectrum.shape[:-2], step, side, step, side)
    return [parts[..., down, :, across, :].contiguous() for down in range(step) for across in range(step)]
