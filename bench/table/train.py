"""Trains the term table of the builtin models: python3 bench/table/train.py PAIRS OUT [--terms 22000] [--epochs 4] [--seed 1]

PAIRS is written by `npm run bench -- table mine`. A text is the sum of the vectors of its terms, each weighted by the root of its
count and a learned weight, which differs between the words of a question and code. The sums are normalised and compared by
cosine; the loss is InfoNCE over batches of pairs, whose members of the same repository are the hard ones. Needs numpy and scipy; uses
one seed for all that is random, so that the same pairs give the same table on the same machine.
"""
import argparse
import struct
import time

import numpy as np
import scipy.sparse as sparse

MAGIC = b"CCTT"
VERSION = 1
# Distinct fixed vectors of terms that are not in the table.
BUCKETS = 65536
# A term must occur in so many repositories.
MIN_REPOSITORIES = 4
# Pairs of one repository in a batch, and such groups in a batch.
GROUP = 512
GROUPS = 2
# Share of pairs whose common words are taken out of the code, and of terms of code that are left out.
MASKED = 0.1
DROPPED = 0.1
FORWARD = 0.7
RATE = 0.01
WARM_UP = 100


def read_pairs(path):
    """Hashes of all records in a row, and of each record its repository, its start and the numbers of its terms."""
    words = np.fromfile(path, dtype="<i4")
    data = words.view(np.uint8)
    heads = []
    at = 0
    while at < len(words):
        repository, kind, query, code = struct.unpack_from("<HBBH", data, at * 4)
        heads.append((repository, at + 2, query, code, kind))
        at += 2 + query + code
    return words, np.array(heads, dtype=np.int64)


def bucket_vectors(dim):
    """Signs of a xorshift generator that the bucket seeds; `term-table.ts` computes the same."""
    bucket = np.arange(BUCKETS, dtype=np.uint64)
    state = ((bucket * 2654435761 + 1) & 0xFFFFFFFF).astype(np.uint32)
    state[state == 0] = 1
    rows = np.empty((BUCKETS, dim), np.float32)
    for j in range(-4, dim):
        state ^= state << np.uint32(13)
        state ^= state >> np.uint32(17)
        state ^= state << np.uint32(5)
        if j >= 0:
            rows[:, j] = np.where((state >> np.uint32(7)) & 1, 1, -1)
    return rows / np.sqrt(dim)


def ranges(starts, counts):
    """The numbers from each start on, as many as its count, and which of the starts each belongs to."""
    owner = np.repeat(np.arange(len(starts)), counts)
    offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + offset, owner


def vocabulary(words, heads, size):
    """Hashes of the terms of the table, the commonest first, and of each word its position there or, beyond them, its bucket."""
    positions, owner = ranges(heads[:, 1], heads[:, 2] + heads[:, 3])
    distinct, inverse = np.unique(words[positions], return_inverse=True)
    in_repository = np.unique(inverse * 65536 + heads[owner, 0])
    repositories = np.bincount(in_repository // 65536, minlength=len(distinct))
    count = np.bincount(inverse, minlength=len(distinct))
    is_query = positions - heads[owner, 1] < heads[owner, 2]
    asked = np.bincount(inverse[is_query], minlength=len(distinct))
    # Terms of questions are few, and each of them matters more.
    score = np.where(repositories >= MIN_REPOSITORIES, np.sqrt(count) + 2 * np.sqrt(asked) + repositories, 0)
    chosen = np.argsort(-score, kind="stable")[:size]
    chosen = chosen[score[chosen] > 0]
    ids = len(chosen) + (distinct.astype(np.int64) & (BUCKETS - 1))
    ids[chosen] = np.arange(len(chosen))
    of_word = np.full(len(words), -1, np.int32)
    of_word[positions] = ids[inverse]
    return distinct[chosen], of_word, count[chosen]


class Adam:
    """Steps of single rows."""

    def __init__(self, shape):
        self.mean = np.zeros(shape, np.float32)
        self.square = np.zeros(shape, np.float32)

    def step(self, rows, gradient):
        self.mean[rows] = 0.9 * self.mean[rows] + 0.1 * gradient
        self.square[rows] = 0.99 * self.square[rows] + 0.01 * gradient**2
        return self.mean[rows] / (np.sqrt(self.square[rows]) + 1e-8)


def counts(owner, columns, shape):
    """Matrix of the roots of counts."""
    matrix = sparse.csr_matrix((np.ones(len(owner), np.float32), (owner, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data = np.sqrt(matrix.data)
    return matrix


def softmax(scores, axis):
    e = np.exp(scores - scores.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def unit(sums):
    norm = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-6
    return sums / norm, norm


def batches(heads, epochs, random):
    """Rows of each batch: `GROUPS` groups of pairs, each of one repository."""
    by_repository = [np.flatnonzero(heads[:, 0] == one) for one in np.unique(heads[:, 0])]
    for _ in range(epochs):
        groups = []
        for own in by_repository:
            own = random.permutation(own)
            groups += [own[i : i + GROUP] for i in range(0, len(own) - GROUP // 2, GROUP)]
        order = random.permutation(len(groups))
        for i in range(0, len(order) - GROUPS + 1, GROUPS):
            yield np.concatenate([groups[k] for k in order[i : i + GROUPS]])


def train(words, heads, size, dim, epochs, seed):
    random = np.random.default_rng(seed)
    terms, ids, frequency = vocabulary(words, heads, size)
    size = len(terms)
    print(f"{len(heads)} pairs, {size} terms, {np.mean(ids[ids >= 0] < size):.3f} of the words are among them", flush=True)
    own = random.standard_normal((size, dim)).astype(np.float32) / np.sqrt(dim)
    vectors = np.concatenate([own, bucket_vectors(dim).astype(np.float32)])
    rarity = np.log(1 + len(heads) / 2 / np.maximum(1, frequency))
    # Logarithms of the weights of both sides; the last is that of all terms outside the table.
    weights = np.zeros((2, size + 1), np.float32)
    weights[:, :size] = np.log(np.maximum(rarity / rarity.mean(), 0.1))
    weights[:, size] = np.log(1.3)
    vector_steps, weight_steps = Adam((size, dim)), [Adam(size + 1), Adam(size + 1)]
    sharpness, sharpness_step = np.log(12.0), Adam(1)
    planned = list(batches(heads, epochs, random))
    started, losses = time.time(), []
    for step, rows in enumerate(planned, 1):
        n = len(rows)
        query, query_owner = ranges(heads[rows, 1], heads[rows, 2])
        code, code_owner = ranges(heads[rows, 1] + heads[rows, 2], heads[rows, 3])
        query, code = ids[query].astype(np.int64), ids[code].astype(np.int64)
        keep = random.random(len(code)) >= DROPPED
        masked = random.random(n) < MASKED
        keep &= ~(masked[code_owner] & np.isin(code_owner << 32 | code, query_owner << 32 | query))
        code, code_owner = code[keep], code_owner[keep]
        used, columns = np.unique(np.concatenate([query, code]), return_inverse=True)
        sides = [
            counts(query_owner, columns[: len(query)], (n, len(used))),
            counts(code_owner, columns[len(query) :], (n, len(used))),
        ]
        rows_of, weight_of = vectors[used], np.minimum(used, size)
        scale = [np.exp(weights[side, weight_of]) for side in (0, 1)]
        (q, q_norm), (d, d_norm) = (unit(sides[side] @ (rows_of * scale[side][:, None])) for side in (0, 1))
        s = np.exp(sharpness)
        cosine = q @ d.T
        forward, backward = softmax(s * cosine, 1), softmax(s * cosine, 0)
        diagonal = np.arange(n)
        losses.append(-np.log(forward[diagonal, diagonal] + 1e-9).mean())
        gradient = FORWARD * forward + (1 - FORWARD) * backward
        gradient[diagonal, diagonal] -= 1
        gradient /= n
        to_q, to_d = s * (gradient @ d), s * (gradient.T @ q)
        to_q = (to_q - q * (q * to_q).sum(1, keepdims=True)) / q_norm
        to_d = (to_d - d * (d * to_d).sum(1, keepdims=True)) / d_norm
        by_term = [sides[0].T @ to_q, sides[1].T @ to_d]
        rate = RATE * min(1, step / WARM_UP) * max(0.02, 1 - step / len(planned))
        learned = used < size
        sum_of_sides = sum(scale[side][:, None] * by_term[side] for side in (0, 1))
        vectors[used[learned]] -= rate * vector_steps.step(used[learned], sum_of_sides[learned])
        for side in (0, 1):
            own = np.zeros(size + 1, np.float32)
            np.add.at(own, weight_of, scale[side] * (rows_of * by_term[side]).sum(1))
            touched = np.unique(weight_of)
            weights[side, touched] -= rate * weight_steps[side].step(touched, own[touched])
        sharpness -= 0.3 * rate * float(sharpness_step.step([0], np.array([(gradient * cosine).sum() * s]))[0])
        sharpness = min(sharpness, np.log(50.0))
        if step % 100 == 0 or step == len(planned):
            print(f"{step} of {len(planned)}: loss {np.mean(losses[-100:]):.3f}, {time.time() - started:.0f} s", flush=True)
    return terms, vectors[:size], weights


def write(path, terms, vectors, weights):
    """Version, sizes and weights, then of each term, in order of hash, its hash, both weights, and its vector as signed bytes."""
    length = np.linalg.norm(vectors, axis=1) + 1e-9
    both = np.exp(weights[:, :-1]) * length
    order = np.argsort(terms, kind="stable")
    unit_rows = vectors / length[:, None]
    scale = np.abs(unit_rows).max(1) / 127
    rows = np.round(unit_rows / scale[:, None]).astype(np.int8)
    # The norm of the rounded row belongs to the weight, so that a reader multiplies once.
    both = both / np.linalg.norm(rows.astype(np.float32), axis=1)
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<IIIff", VERSION, len(terms), vectors.shape[1], *np.exp(weights[:, -1])))
        file.write(terms[order].astype("<i4").tobytes())
        file.write(both[:, order].astype("<f4").tobytes())
        file.write(rows[order].tobytes())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pairs")
    parser.add_argument("out")
    parser.add_argument("--terms", type=int, default=22_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    words, heads = read_pairs(options.pairs)
    write(options.out, *train(words, heads, options.terms, options.dim, options.epochs, options.seed))


main()
