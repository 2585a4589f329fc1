"""Expressions and aggregates that are refused, by the reason that is given: the texts stand under it."""

import logging

import pytest

from discreet.errors import InvalidParameter
from discreet.tables.sql import parse

TABLES = {
    "visits": ["person", "city", "day", "time", "amount", "age", "note", "flag"],
    "regions": ["city", "region", "country"],
}

REFUSED = r"""
* stands for all columns
    SELECT COUNT(visits.*) AS s FROM visits
COUNT is of a group and this place is of a row
    SELECT COUNT(*) AS n FROM visits WHERE COUNT(*) > 1
    SELECT COUNT(*) FILTER (WHERE COUNT(*) > 1) AS n FROM visits
there is no function
    SELECT FIRST(city) AS s FROM visits
    SELECT COUNT(getenv('HOME')) AS n FROM visits
    SELECT COUNT(pg_sleep(1)) AS n FROM visits
    SELECT COUNT(*) AS n FROM visits WHERE pg_read_file('/etc/passwd') = ''
    SELECT COUNT(*) AS n FROM visits WHERE random() > 0.5
    SELECT COUNT(*) AS n FROM visits WHERE version() = ''
    SELECT COUNT(*) AS n FROM visits WHERE error('x')
    SELECT COUNT(*) AS n FROM visits WHERE regexp_matches(city, '(a+)+')
the text is no SQL that can be read, from line 1 on
    SELECT COUNT(*) AS n FROM visits WHERE city ~ 'a'
    SELECT COUNT(*) AS n FROM visits WHERE age > 3 WHERE age > 4
a window function gives an answer for every row
    SELECT COUNT(*) OVER () AS n FROM visits
    SELECT SUM(amount) OVER (PARTITION BY city ORDER BY day) AS n FROM visits
    SELECT ROW_NUMBER() OVER () AS n FROM visits
DISTINCT is for COUNT(DISTINCT x) alone
    SELECT SUM(DISTINCT amount) AS s FROM visits
* is for COUNT(*) alone
    SELECT SUM(*) AS s FROM visits
COUNT(DISTINCT x) takes one column
    SELECT COUNT(DISTINCT city, day) AS s FROM visits
COUNT takes * or one column
    SELECT COUNT() AS s FROM visits
    SELECT COUNT(city, day) AS s FROM visits
has no meaning where it stands
    SELECT COUNT(ALL city) AS s FROM visits
    SELECT COUNT(* EXCEPT) AS n FROM visits
    SELECT COUNT(*) AS n FROM visits WHERE age > +3
    SELECT COUNT(CAST(city AS INT COLLATE)) AS n FROM visits
ORDER BY inside an aggregate changes nothing that may be asked
    SELECT SUM(amount ORDER BY day) AS s FROM visits
LIMIT inside an aggregate picks rows by their place
    SELECT SUM(amount LIMIT 3) AS s FROM visits
named arguments are not supported
    SELECT SUM(amount, contribution_bounds_per_group => (0, 1)) AS s FROM visits
PERCENTILE_CONT needs an order
    SELECT PERCENTILE_CONT(0.5) AS s FROM visits
quantiles are counted from the lowest value
    SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount DESC) AS s FROM visits
WITHIN GROUP is for percentiles alone
    SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY amount) AS s FROM visits
    SELECT MEDIAN(amount) WITHIN GROUP (ORDER BY amount) AS s FROM visits
quantiles are at probabilities between 0 and 1, for example [0.25, 0.5, 0.75]
    SELECT QUANTILE_CONT(amount, 2) AS s FROM visits
takes plain values that are the same in every row
    SELECT QUANTILE_CONT(amount, age) AS s FROM visits
    SELECT COUNT(*) AS n FROM visits WHERE city LIKE note
    SELECT COUNT(*) AS n FROM visits WHERE city LIKE ANY ('a', 'b')
    SELECT COUNT(*) AS n FROM visits WHERE city IN (NULL)
    SELECT COUNT(*) AS n FROM visits WHERE city IN (note)
    SELECT COUNT(*) AS n FROM visits WHERE (city, note) IN (('a', 'b'))
    SELECT COUNT(SUBSTRING(city, age, 1)) AS n FROM visits
    SELECT COUNT(SUBSTRING(city FOR UPDATE FROM 1)) AS n FROM visits
    SELECT COUNT(CLIP(amount, age, 3)) AS n FROM visits
QUANTILE_CONT does not take 1 arguments
    SELECT QUANTILE_CONT(amount) AS s FROM visits
VAR_SAMP is not released
    SELECT VAR_SAMP(amount) AS s FROM visits
STDDEV_SAMP is not released
    SELECT STDDEV_SAMP(amount) AS s FROM visits
ANY_VALUE shows the value of one row
    SELECT ANY_VALUE(city) AS s FROM visits
ARRAY_AGG shows the values of rows
    SELECT ARRAY_AGG(city) AS s FROM visits
STRING_AGG shows the values of rows
    SELECT STRING_AGG(city, ',') AS s FROM visits
COUNTIF is not on the list
    SELECT COUNTIF(flag) AS s FROM visits
a query inside an expression sees other rows than its own
    SELECT COUNT((SELECT 1)) AS n FROM visits
there is no table
    SELECT COUNT(regions.city) AS n FROM visits
tables and columns are named without a schema
    SELECT COUNT(main.visits.city) AS n FROM visits
    SELECT COUNT(note.a.b.c) AS n FROM visits
there is no column 'ssn'
    SELECT COUNT(ssn) AS n FROM visits
there is no column 'current_user'
    SELECT COUNT(*) AS n FROM visits WHERE current_user = 'x'
there is no column 'current_date'
    SELECT COUNT(*) AS n FROM visits WHERE current_date > day
the time of day is no part of a query
    SELECT COUNT(*) AS n FROM visits WHERE now() > day
regular expressions may take for ever on one row
    SELECT COUNT(*) AS n FROM visits WHERE city RLIKE 'a'
    SELECT COUNT(*) AS n FROM visits WHERE city SIMILAR TO 'a'
ILIKE is not supported
    SELECT COUNT(*) AS n FROM visits WHERE city ILIKE 'a'
LIKE has no ESCAPE here
    SELECT COUNT(*) AS n FROM visits WHERE city LIKE 'a' ESCAPE '!'
GLOB is not supported
    SELECT COUNT(*) AS n FROM visits WHERE city GLOB 'a*'
COLLATE is not supported
    SELECT COUNT(*) AS n FROM visits WHERE city COLLATE "de" = 'a'
a comparison with NULL is never true
    SELECT COUNT(*) AS n FROM visits WHERE city = NULL
IN takes at least one value
    SELECT COUNT(*) AS n FROM visits WHERE city IN ()
IN takes values in brackets
    SELECT COUNT(*) AS n FROM visits WHERE city IN note
BETWEEN SYMMETRIC is not supported
    SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN SYMMETRIC 1 AND 2
IS DISTINCT FROM is not supported
    SELECT COUNT(*) AS n FROM visits WHERE city IS DISTINCT FROM note
IS is for NULL alone
    SELECT COUNT(*) AS n FROM visits WHERE flag IS TRUE
the remainder % is not supported
    SELECT COUNT(*) AS n FROM visits WHERE age % 2 = 0
is not among the parts that a query may have
    SELECT COUNT(*) AS n FROM visits WHERE age & 2 = 0
    SELECT COUNT(*) AS n FROM visits WHERE age << 2 = 0
    SELECT COUNT(*) AS n FROM visits WHERE age ^ 2 = 0
    SELECT COUNT(*) AS n FROM visits WHERE city = N'a'
DIV is not supported
    SELECT COUNT(*) AS n FROM visits WHERE age DIV 2 = 0
the value of a parameter is not part of the text
    SELECT COUNT(*) AS n FROM visits WHERE age = ?
    SELECT COUNT(*) AS n FROM visits WHERE age = :age
    SELECT COUNT(*) AS n FROM visits WHERE age = @age
    SELECT COUNT(*) AS n FROM visits WHERE age = @@version
there is no column '$1'
    SELECT COUNT(*) AS n FROM visits WHERE age = $1
structures are not supported
    SELECT COUNT(*) AS n FROM visits WHERE age = {{ age }}
    SELECT COUNT({'a': 1}) AS n FROM visits
numbers lie within plus or minus 2^53. Write a smaller one
    SELECT COUNT(*) AS n FROM visits WHERE age = 9007199254740993
    SELECT COUNT(*) AS n FROM visits WHERE age = 1e400
a number is too close to 0 for any engine
    SELECT COUNT(*) AS n FROM visits WHERE age = 1e-400
a number is written in digits
    SELECT COUNT(*) AS n FROM visits WHERE age = 1_000
    SELECT COUNT(0x10) AS n FROM visits
    SELECT COUNT(*) AS n FROM visits WHERE age = 1e
two texts next to each other are no value
    SELECT COUNT(*) AS n FROM visits WHERE city = 'a' 'b'
there is no column 'Oslo'
    SELECT COUNT(*) AS n FROM visits WHERE city = "Oslo"
there is no such date
    SELECT COUNT(*) AS n FROM visits WHERE day > DATE '2026-02-30'
    SELECT COUNT(*) AS n FROM visits WHERE day > DATE '20260101'
there is no such timestamp
    SELECT COUNT(*) AS n FROM visits WHERE time > TIMESTAMP '2026-01-01 00:00:00+01:00'
INTERVAL is not supported
    SELECT COUNT(*) AS n FROM visits WHERE day > day + INTERVAL '1' DAY
AT TIME ZONE is not supported
    SELECT COUNT(*) AS n FROM visits WHERE time AT TIME ZONE 'UTC' > day
CAST is to one of BIGINT
    SELECT COUNT(CAST(amount AS DECIMAL(10, 2))) AS n FROM visits
    SELECT COUNT(CAST(city AS VARCHAR(3))) AS n FROM visits
    SELECT COUNT(CAST(city AS INT ARRAY)) AS n FROM visits
    SELECT COUNT(CAST(city AS JSON)) AS n FROM visits
CAST has no FORMAT here
    SELECT COUNT(CAST(city AS DATE FORMAT 'x')) AS n FROM visits
TRIM takes spaces from both ends
    SELECT COUNT(TRIM(LEADING 'a' FROM city)) AS n FROM visits
the setting 'expression' of 'Trim' is not supported
    SELECT COUNT(TRIM(city, 'a')) AS n FROM visits
SUBSTRING starts at 1 or later and has no negative length
    SELECT COUNT(SUBSTRING(city, 0, 1)) AS n FROM visits
EXTRACT gives one of DAY
    SELECT COUNT(EXTRACT(DOW FROM day)) AS n FROM visits
    SELECT COUNT(EXTRACT(EPOCH FROM day)) AS n FROM visits
DATE_TRUNC is to months alone
    SELECT COUNT(DATE_TRUNC('week', day)) AS n FROM visits
LEAST alone leaves the other end open
    SELECT COUNT(LEAST(amount, 3)) AS n FROM visits
    SELECT COUNT(LEAST(GREATEST(amount, 10), 5)) AS n FROM visits
GREATEST alone leaves the other end open
    SELECT COUNT(GREATEST(amount, age)) AS n FROM visits
the lower bound of CLIP comes first
    SELECT COUNT(CLIP(amount, 3, 1)) AS n FROM visits
BIN takes a number and at least two edges
    SELECT COUNT(BIN(amount, 3)) AS n FROM visits
the edges of BIN ascend
    SELECT COUNT(BIN(amount, 3, 1)) AS n FROM visits
ROUND takes one argument
    SELECT COUNT(ROUND(amount, 2)) AS n FROM visits
COALESCE takes at least two arguments
    SELECT COUNT(COALESCE(amount)) AS n FROM visits
IF is not on the list
    SELECT COUNT(IF(flag, 1, 2)) AS n FROM visits
a function is named without quotes
    SELECT COUNT("abs"(amount)) AS n FROM visits
functions of a schema are not on the list
    SELECT COUNT(main.abs(amount)) AS n FROM visits
parts of a list or structure are not supported
    SELECT COUNT(note['a']) AS n FROM visits
functions cannot be defined in a query
    SELECT COUNT(note -> 'a') AS n FROM visits
    SELECT COUNT(x -> x) AS n FROM visits
a list is no value here
    SELECT COUNT([1, 2]) AS n FROM visits
FILTER belongs to an aggregate
    SELECT ABS(amount) FILTER (WHERE flag) AS n FROM visits
each bracket that is opened must be closed
    SELECT COUNT(*) AS n FROM visits WHERE (age > 3
    SELECT COUNT(*) AS n FROM visits WHERE age > 3)
a string
    SELECT COUNT(*) AS n FROM visits WHERE city = 'x
"""


def cases():
    reason = ""
    for line in REFUSED.strip("\n").splitlines():
        if line.startswith("    "):
            yield pytest.param(reason, line.strip(), id=line.strip())
        else:
            reason = line


@pytest.mark.parametrize(("reason", "text"), list(cases()))
def test_it_is_refused_with_its_reason(reason, text, caplog):
    with caplog.at_level(logging.DEBUG), pytest.raises(InvalidParameter) as caught:
        parse(text, TABLES)
    assert reason in str(caught.value)
    assert str(caught.value).endswith((".", "..."))
    assert caught.value.__cause__ is None
    assert not caplog.records
