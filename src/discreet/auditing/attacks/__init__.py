"""Attacks on releases, each beside the same release with protection and the bound that theory gives the attacker."""
