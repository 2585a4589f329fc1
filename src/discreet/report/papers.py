"""The papers that a publication cites."""

from dataclasses import dataclass

__all__ = ["Paper"]


@dataclass(frozen=True, slots=True)
class Paper:
    """Who wrote it, what it is called, where and when it appeared.

    >>> print(GEOMETRIC)
    Ghosh, Roughgarden and Sundararajan, “Universally Utility-Maximizing Privacy Mechanisms”, STOC 2009
    """

    authors: str
    title: str
    venue: str

    def __str__(self) -> str:
        return f"{self.authors}, “{self.title}”, {self.venue}"


CALIBRATION = Paper(
    "Dwork, McSherry, Nissim and Smith", "Calibrating Noise to Sensitivity in Private Data Analysis", "TCC 2006"
)
COMPOSITION = Paper(
    "Dwork, Kenthapadi, McSherry, Mironov and Naor",
    "Our Data, Ourselves: Privacy via Distributed Noise Generation",
    "EUROCRYPT 2006",
)
SMOOTH = Paper(
    "Nissim, Raskhodnikova and Smith", "Smooth Sensitivity and Sampling in Private Data Analysis", "STOC 2007"
)
EXPONENTIAL = Paper("McSherry and Talwar", "Mechanism Design via Differential Privacy", "FOCS 2007")
GEOMETRIC = Paper(
    "Ghosh, Roughgarden and Sundararajan", "Universally Utility-Maximizing Privacy Mechanisms", "STOC 2009"
)
SPANNING = Paper(
    "McKenna, Miklau and Sheldon",
    "Winning the NIST Contest: A Scalable and General Approach to Differentially Private Synthetic Data",
    "Journal of Privacy and Confidentiality 2021",
)
ADAPTIVE_TABLES = Paper(
    "McKenna, Mullins, Sheldon and Miklau",
    "AIM: An Adaptive and Iterative Mechanism for Differentially Private Synthetic Data",
    "VLDB 2022",
)
NETWORK = Paper(
    "Zhang, Cormode, Procopiuc, Srivastava and Xiao",
    "PrivBayes: Private Data Release via Bayesian Networks",
    "ACM Transactions on Database Systems 2017",
)
MODELS = Paper(
    "McKenna, Sheldon and Miklau",
    "Graphical-Model Based Estimation and Inference for Differential Privacy",
    "ICML 2019",
)
PROPOSED = Paper("Dwork and Lei", "Differential Privacy and Robust Statistics", "STOC 2009")
THRESHOLD = Paper(
    "Korolova, Kenthapadi, Mishra and Ntoulas", "Releasing Search Queries and Clicks Privately", "WWW 2009"
)
TREE = Paper(
    "Hay, Rastogi, Miklau and Suciu",
    "Boosting the Accuracy of Differentially Private Histograms Through Consistency",
    "VLDB 2010",
)
QUANTILES = Paper("Smith", "Privacy-preserving Statistical Estimation with Optimal Convergence Rates", "STOC 2011")
ODOMETERS = Paper(
    "Rogers, Roth, Ullman and Vadhan", "Privacy Odometers and Filters: Pay-as-you-Go Composition", "NeurIPS 2016"
)
CONCENTRATED = Paper(
    "Bun and Steinke", "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds", "TCC 2016"
)
TOP = Paper(
    "Durfee and Rogers",
    "Practical Differentially Private Top-k Selection with Pay-what-you-get Composition",
    "NeurIPS 2019",
)
DISCRETE_GAUSSIAN = Paper(
    "Canonne, Kamath and Steinke", "The Discrete Gaussian for Differential Privacy", "NeurIPS 2020"
)
BOUNDING = Paper(
    "Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo and Gipson",
    "Differentially Private SQL with Bounded User Contribution",
    "PETS 2020",
)
RENYI_FILTER = Paper("Feldman and Zrnic", "Individual Privacy Accounting via a Rényi Filter", "NeurIPS 2021")
SELECTION = Paper("Desfontaines, Voss, Gipson and Mandayam", "Differentially Private Partition Selection", "PETS 2022")
DOTS = Paper(
    "Doroshenko, Ghazi, Kamath, Kumar and Manurangsi",
    "Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions",
    "PETS 2022",
)
CHARACTERISTIC = Paper(
    "Zhu, Dong and Wang",
    "Optimal Accounting of Differential Privacy via Characteristic Function",
    "AISTATS 2022",
)
ADAPTIVE = Paper("Whitehouse, Ramdas, Rogers and Wu", "Fully-Adaptive Composition in Differential Privacy", "ICML 2023")
GAUSSIAN_FILTER = Paper(
    "Koskela, Tobaben and Honkela",
    "Individual Privacy Accounting with Gaussian Differential Privacy",
    "ICLR 2023",
)
