// Snapshots that are cut off, or changed in one byte, at every place that matters: an error with an
// offset, or what was there before, and never another count.
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '../../../shared/errors.ts';
import { openSnapshot, snapshotIn } from '../../../shared/etcd/snapshot/snapshot.ts';
import { type HistoryRecord, metaChecksum, writeBoltFile } from '../../builders/bolt-file.ts';

const PAGE = 4096;
let dir: string;
/** With etcd's hash at the end, and without, as a member's own file. */
let hashed: Buffer;
let plain: Buffer;
let whole: string;

function* records(): Generator<HistoryRecord> {
  for (let main = 2; main < 160; main += 1) {
    const key = `/registry/example.com/widgets/web/w${main % 100}`;
    const filler = 'x'.repeat(main % 300);
    const value = `{"apiVersion":"example.com/v1","kind":"Widget","filler":"${filler}"}`;
    yield { main, key, value: main % 11 === 0 ? undefined : value };
  }
  yield { main: 160, key: '/registry/example.com/widgets/web/large', value: 'y'.repeat(10_000) };
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'bolt-test-'));
  const path = join(dir, 'snapshot.db');
  writeBoltFile(path, records());
  hashed = readFileSync(path);
  plain = hashed.subarray(0, -32);
  whole = await outcomeOf(plain);
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Every key with its value's size, or the refusal. */
async function outcomeOf(bytes: Buffer): Promise<string> {
  const lines: string[] = [];
  try {
    for await (const batch of snapshotIn(bytes).entries()) {
      lines.push(...batch.map((entry) => `${entry.key} ${entry.whole().length}`));
    }
    return lines.toSorted().join('\n');
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message}`;
    throw error;
  }
}

const branchPage = (): number =>
  [...Array(plain.length / PAGE).keys()].findIndex(
    (page) => plain.readUInt16LE(page * PAGE + 8) === 1,
  );

/** Two meta pages that speak of so many pages, and these, empty. */
function withPages(count: number, root?: number): Buffer {
  const bytes = Buffer.alloc(count * PAGE);
  plain.copy(bytes, 0, 0, 2 * PAGE);
  for (const offset of [0, PAGE]) {
    if (root !== undefined) bytes.writeBigUInt64LE(BigInt(root), offset + 32);
    bytes.writeBigUInt64LE(BigInt(count), offset + 56);
    bytes.writeBigUInt64LE(metaChecksum(bytes.subarray(offset, offset + PAGE)), offset + 72);
  }
  return bytes;
}

/** The key of a record as bbolt has it, without its sub-revision. */
const keyOf = (main: number): Buffer => {
  const key = Buffer.alloc(9, 0x5f);
  key.writeBigUInt64BE(BigInt(main));
  return key;
};

const flipped = (bytes: Buffer, at: number, mask: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ mask;
  return copy;
};

test('the newest of each key that is not deleted is there, and nothing else', () => {
  const live = new Map<string, number>();
  for (const { key, value } of records()) {
    if (value === undefined) live.delete(key);
    else live.set(key, Buffer.byteLength(value));
  }
  const expected = [...live].map(([key, sizeBytes]) => `${key} ${sizeBytes}`);
  expect(whole).toBe(expected.toSorted().join('\n'));
});

describe('a snapshot with its hash', () => {
  test('is refused wherever a byte of it is changed', async () => {
    for (let at = 0; at < hashed.length; at += 997) {
      expect(await outcomeOf(flipped(hashed, at, 0x10)), `byte ${at}`).toMatch(/^SNAPSHOT_DAMAGED/);
    }
  });

  test('is refused wherever it is cut off, but exactly before its hash', async () => {
    const cuts = [0, 1, 15, 16, 79, 80, 4095, PAGE, PAGE + 80, 2 * PAGE, hashed.length - 1];
    for (let at = 500; at < hashed.length; at += 1_777) cuts.push(at);
    for (const at of cuts) {
      const outcome = await outcomeOf(hashed.subarray(0, at));
      expect(outcome, `cut at ${at}`).toMatch(/^SNAPSHOT_DAMAGED.*at byte \d+/);
    }
    expect(await outcomeOf(hashed.subarray(0, -32))).toBe(whole);
  });
});

describe('a file without a hash', () => {
  /** The header and the table of each page of the tree, and both meta pages. */
  function structure(): number[] {
    const places: number[] = [];
    for (let page = 0; page * PAGE < plain.length; page += 1) {
      const offset = page * PAGE;
      if (plain.readUInt16LE(offset + 8) === 4) {
        for (let at = 16; at < 80; at += 1) places.push(offset + at);
      } else if (Number(plain.readBigUInt64LE(offset)) === page) {
        const end = 16 + 16 * plain.readUInt16LE(offset + 10);
        for (let at = 0; at < end; at += 1) places.push(offset + at);
        page += plain.readUInt32LE(offset + 12);
      }
    }
    return places;
  }

  test('is refused, or read as it was, wherever its structure is changed', async () => {
    const refused: number[] = [];
    for (const at of structure()) {
      const outcome = await outcomeOf(flipped(plain, at, at % 3 === 0 ? 0x80 : 0x01));
      if (outcome === whole) continue;
      expect(outcome, `byte ${at}`).toMatch(/^SNAPSHOT_DAMAGED.*at byte \d+/);
      refused.push(at);
    }
    expect(refused.length).toBeGreaterThan(1_000);
  });

  const leaves = (): number[] =>
    [...Array(plain.length / PAGE).keys()].filter(
      (page) =>
        page > 1 &&
        Number(plain.readBigUInt64LE(page * PAGE)) === page &&
        plain.readUInt16LE(page * PAGE + 8) === 2,
    );

  test('is refused when a page, or its second half, is the one of another moment', async () => {
    for (const page of leaves()) {
      for (const [from, isWhole] of [
        [0, true],
        [PAGE / 2, false],
      ] as const) {
        const torn = Buffer.from(plain);
        const other = page === 4 ? 5 : 4;
        plain.copy(torn, page * PAGE + from, other * PAGE + from, (other + 1) * PAGE);
        const outcome = await outcomeOf(torn);
        // Half a page may hold nothing but the middle of values.
        if (!isWhole && outcome === whole) continue;
        expect(outcome, `page ${page} from ${from}`).toMatch(/^SNAPSHOT_DAMAGED/);
      }
    }
  });

  test('is refused when a branch points to itself, a sibling or beyond the last page', async () => {
    const branch = branchPage();
    const at = branch * PAGE + 16 + 8;
    for (const target of [branch, 3, 1, plain.length / PAGE, 2 ** 31]) {
      const looped = Buffer.from(plain);
      looped.writeBigUInt64LE(BigInt(target), at);
      expect(await outcomeOf(looped), `to ${target}`).toMatch(/^SNAPSHOT_DAMAGED/);
    }
  });

  test('is refused when a branch with one child is its own child', async () => {
    // In a file of so many pages that their number does not end it first.
    const looped = withPages(100);
    plain.copy(looped, 2 * PAGE, 2 * PAGE);
    const branch = branchPage();
    looped.writeUInt16LE(1, branch * PAGE + 10);
    looped.writeUInt32LE(16, branch * PAGE + 16);
    looped.writeBigUInt64LE(BigInt(branch), branch * PAGE + 24);
    looped.fill(0, branch * PAGE + 32, branch * PAGE + 64);
    keyOf(2).copy(looped, branch * PAGE + 32);
    expect(await outcomeOf(looped)).toMatch(/deeper than 64 pages/);
  });

  test('is refused when its branches lead to the same pages again and again', async () => {
    const levels = 14;
    const looped = withPages(levels + 3, 2);
    // Both children of each branch are the next page, whose first key is above its last one.
    for (let level = 0; level <= levels; level += 1) {
      const page = looped.subarray((level + 2) * PAGE);
      page.writeBigUInt64LE(BigInt(level + 2), 0);
      const isLeaf = level === levels;
      page.writeUInt16LE(isLeaf ? 2 : 1, 8);
      page.writeUInt16LE(2, 10);
      for (const index of [0, 1]) {
        const [element, start] = [16 + 16 * index, 48 + index];
        page.writeUInt32LE(start - element, element + (isLeaf ? 4 : 0));
        page.writeUInt32LE(1, element + (isLeaf ? 8 : 4));
        if (!isLeaf) page.writeBigUInt64LE(BigInt(level + 3), element + 8);
        page[start] = index === 0 ? 0x80 + level : 0x7f - level;
      }
    }
    expect(await outcomeOf(looped)).toMatch(/the tree has more pages than the file/);
  });

  test('is refused when a record says that it is of another revision', async () => {
    const record = plain.indexOf(keyOf(160));
    expect(await outcomeOf(flipped(plain, record + 7, 0x02))).toMatch(
      /a record of revision 162 that says it is of 160/,
    );
  });

  test('is refused when its revisions are not in order', async () => {
    const path = join(dir, 'unordered.db');
    const unordered = [2, 5, 4, 6].map((main) => ({ main, key: `/k${main}`, value: 'v' }));
    writeBoltFile(path, unordered, { hasDigest: false });
    expect(await outcomeOf(readFileSync(path))).toMatch(/revision 5 lies before 4/);
  });

  test('is refused, or read as it was, wherever a record is changed around its key', async () => {
    let refused = 0;
    for (const { main: of, key, value = '' } of records()) {
      const main = Number(of);
      // A few of each kind, so that it does not take long.
      if (main % 7 > 0 && main % 33 > 0 && main < 160) continue;
      const record = plain.indexOf(keyOf(main)) + (main % 11 === 0 ? 18 : 17);
      const keyStart = record + 2;
      const keyEnd = keyStart + Buffer.byteLength(key);
      const end = value === '' ? keyEnd : plain.indexOf(value, keyEnd);
      expect(plain.subarray(keyStart, keyEnd).toString()).toBe(key);
      for (const at of [
        record,
        record + 1,
        ...Array(end - keyEnd)
          .keys()
          .map((n) => keyEnd + n),
      ]) {
        // The bits of one byte in turn, from record to record.
        const outcome = await outcomeOf(flipped(plain, at, 1 << ((main + at) % 8)));
        if (outcome === whole) continue;
        expect(outcome, `byte ${at} of revision ${main}`).toMatch(/^SNAPSHOT_DAMAGED/);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  test('is refused when the last record of a page has lost its length', async () => {
    const pages = leaves().filter((page) => plain.readUInt32LE(page * PAGE + 12) === 0);
    // The last one holds the buckets.
    for (const page of pages.slice(0, -1)) {
      const element = page * PAGE + 16 * plain.readUInt16LE(page * PAGE + 10);
      const lost = Buffer.from(plain);
      lost.writeUInt32LE(0, element + 12);
      const outcome = await outcomeOf(lost);
      // The changed bytes are no record of a delete any more, nor of anything else.
      expect(outcome, `page ${page}`).toMatch(/^SNAPSHOT_DAMAGED.*none of etcd/);
    }
    expect(pages.length).toBeGreaterThan(3);
  });

  test('of a record whose key has the tag of its value, refuses it', async () => {
    const record = plain.indexOf(keyOf(159)) + 17;
    expect(plain[record]).toBe(0x0a);
    expect(await outcomeOf(flipped(plain, record, 0x20))).toMatch(/a record that is none of etcd/);
  });

  test('is read from the meta page that is whole when the other is not', async () => {
    expect(await outcomeOf(flipped(plain, 70, 0xff))).toBe(whole);
    expect(await outcomeOf(flipped(plain, PAGE + 70, 0xff))).toBe(whole);
    const neither = flipped(flipped(plain, 70, 0xff), PAGE + 70, 0xff);
    expect(await outcomeOf(neither)).toContain('neither of its meta pages');
  });

  test('is refused when its meta page asks for a page size that cannot be', async () => {
    const odd = Buffer.from(plain);
    for (const offset of [0, PAGE]) {
      odd.writeUInt32LE(3_000, offset + 24);
      odd.writeBigUInt64LE(metaChecksum(odd.subarray(offset, offset + PAGE)), offset + 72);
    }
    expect(await outcomeOf(odd)).toContain('a page size of 3000 bytes cannot be');
  });
});

test.each([
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
])('a snapshot that is packed by %s is told to be', async (by, pack) => {
  expect(await outcomeOf(pack(hashed))).toContain(`it is compressed by ${by}: unpack it first`);
});

test('a history that was compacted is the same, whatever its file says of it', async () => {
  const path = join(dir, 'compacted.db');
  writeBoltFile(path, records(), { compacted: 100 });
  // Two records of a key below that revision are no damage as long as there is room to see them.
  expect(await outcomeOf(readFileSync(path))).toBe(whole);
});

describe('revisions beyond 2^53, as after a restore that bumps them', () => {
  const base = 2n ** 53n;
  const write = (...mains: readonly bigint[]): Buffer => {
    const path = join(dir, 'bumped.db');
    const all = mains.map((main) => ({ main, key: `/k${main % 3n}`, value: 'v' }));
    writeBoltFile(path, all, { compacted: base });
    return readFileSync(path);
  };

  test('are told as they are', async () => {
    const snapshot = snapshotIn(write(5n, base, base + 1n, base + 2n, 2n ** 62n + 1n));
    const keys: string[] = [];
    for await (const batch of snapshot.entries()) keys.push(...batch.map(({ key }) => key));
    expect(keys.toSorted()).toEqual(['/k0', '/k1', '/k2']);
    expect(snapshot.facts).toMatchObject({ revision: 2n ** 62n + 1n, records: 5, keys: 3 });
  });

  test('that differ in their last bit alone are kept apart', async () => {
    expect(await outcomeOf(write(base, base + 1n, base))).toMatch(
      /revision 9007199254740993 lies before 9007199254740992, which is older/,
    );
  });
});

test.each([
  ['nothing at all', ''],
  ['a text', 'apiVersion: v1\n'.repeat(100)],
  ['zeroes', '\0'.repeat(20_000)],
])('%s is told not to be a snapshot', async (_, text) => {
  expect(await outcomeOf(Buffer.from(text))).toMatch(/^SNAPSHOT_DAMAGED.*Nothing was counted/);
});

test('a file that changes while it is read is told to change', async () => {
  const path = join(dir, 'changing.db');
  writeFileSync(path, plain);
  const entries = openSnapshot(path).entries();
  await entries.next();
  utimesSync(path, 1, 1);
  const rest = (async () => {
    for await (const batch of entries) if (batch.length === 0) return;
  })();
  await expect(rest).rejects.toMatchObject({ code: 'SNAPSHOT_CHANGING' });
});

test('a file that is not there is named', () => {
  expect(() => openSnapshot(join(dir, 'absent.db'))).toThrow(/absent\.db cannot be opened/);
});

test('a directory, and a device, are told to be no file before they are opened', () => {
  for (const path of [dir, '/dev/null']) {
    expect(() => openSnapshot(path)).toThrow(`${path} cannot be opened (it is no regular file)`);
  }
});
