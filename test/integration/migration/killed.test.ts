// The function is killed at every write of a whole migration, once just before it is sent and once
// just after it was carried out. The next process goes on, and the end is the same as without a
// death.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Killed, type Moment } from '../../builders/mortal.ts';
import {
  CURRENT,
  type KindVersion,
  OLD,
  type VersionedKind,
} from '../../builders/versioned-kind.ts';
import { Lives } from './mortal.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';
import { MigrationWorld } from './world.ts';

const OBJECTS = 2;
/** More than a migration of so few objects has. */
const WRITES_MAX = 40;

let world: MigrationWorld;

beforeAll(async () => {
  world = new MigrationWorld(sharedPlane());
  await world.prepare('befores', 'afters', 'flickers', 'doubles', 'cuts');
});

afterAll(async () => {
  await world?.stop();
});

const MOMENTS: readonly Moment[] = ['before', 'after'];

test.concurrent.each(MOMENTS)(
  'killed just %s a write, for each write of a migration',
  async (moment) => {
    const kind = await world.kind(`${moment}s`, OBJECTS);
    const before = await kind.stored();
    await world.migrate(kind);
    const lives = new Lives(world.kube, kind.crdName);
    const lastWords: string[] = [];
    let [current, other]: [KindVersion, KindVersion] = [CURRENT, OLD];
    for (let write = 1; write < WRITES_MAX; write += 1) {
      const lastWord = await lives.live({ write, moment });
      if (lastWord === undefined) break;
      lastWords.push(lastWord);
      await expectNothingClaimed(kind, current);
      await lives.live();
      await expectDone(kind, current, before);
      // There and back again: what was current is old for the next one.
      [current, other] = [other, current];
      await kind.flip(current);
    }
    // Each trim was told once, whoever told it; the last one was told by somebody who outlived it.
    expect((await world.eventsOn(kind)).length).toBe(lastWords.length + 1);
    expect(count(lastWords, 'apply before') + count(lastWords, 'apply after')).toBe(2 * OBJECTS);
    expect(count(lastWords, 'patch customresourcedefinitions')).toBe(1);
    expect(count(lastWords, 'create events')).toBe(1);
    expect(count(lastWords, 'apply storagemigrations')).toBeGreaterThanOrEqual(6);
  },
);

test.concurrent('the definition moves at the last moment: no proof is claimed', async () => {
  const kind = await world.kind('flickers', OBJECTS);
  await world.migrate(kind, { trim: 'Never' });
  const lives = new Lives(world.kube, kind.crdName);
  const words: string[] = [];
  const claims: object[] = [];
  await lives.live(undefined, async (word) => {
    words.push(word);
    if (word === 'apply flickers' && count(words, word) === 2 * OBJECTS) {
      await kind.flip(OLD);
      await kind.createMore(OLD, 'between');
      await kind.flip();
    }
    const { proof } = await world.status(kind.crdName);
    if (proof !== undefined) claims.push(await world.stored(kind));
  });
  expect(await world.status(kind.crdName)).toMatchObject({ phase: 'Done', rewritten: 1 });
  expect(claims.length).toBeGreaterThan(0);
  expect([...new Set(claims.map((one) => JSON.stringify(one)))]).toEqual(['{"v1":3}']);
});

test.concurrent('two instances wake at once: one writes, and its changes are counted', async () => {
  const kind = await world.kind('doubles', OBJECTS);
  await world.migrate(kind);
  const one = new Lives(world.kube, kind.crdName);
  await one.live(undefined, async () => {
    if ((await world.status(kind.crdName)).phase === 'Rewriting') throw new Killed();
  });
  const other = one.beside();
  let isFirst = true;
  await one.live(undefined, async (word) => {
    if (word !== 'apply doubles' || !isFirst) return;
    isFirst = false;
    await other.live();
  });
  expect(await world.status(kind.crdName)).toMatchObject({ phase: 'Done', rewritten: OBJECTS });
});

test.concurrent('a request ends in the middle of a page: its changes are counted', async () => {
  const kind = await world.kind('cuts', OBJECTS);
  await world.migrate(kind, { budget: { concurrency: 1 } });
  const lives = new Lives(world.kube, kind.crdName);
  const ending = new AbortController();
  const cut = lives.live(
    undefined,
    async (word) => {
      if (word === 'apply cuts') ending.abort(new Error('the caller is gone'));
    },
    ending,
  );
  await expect(cut).rejects.toThrow('the caller is gone');
  const status = await world.status(kind.crdName);
  expect(status).toMatchObject({ phase: 'Rewriting', rewritten: 1, progress: { done: 0 } });
  expect(status.worker).toBeUndefined();
  await lives.live();
  expect(await world.status(kind.crdName)).toMatchObject({ phase: 'Done', rewritten: OBJECTS });
});

const count = (words: readonly string[], beginning: string): number =>
  words.filter((word) => word.startsWith(beginning)).length;

/** Whatever was done by then: no version left the list, and nothing is called proved, too early. */
async function expectNothingClaimed(kind: VersionedKind, current: KindVersion): Promise<void> {
  const [status, stored] = [await world.status(kind.crdName), await world.stored(kind)];
  const { storedVersions } = (await kind.read()).status;
  const isAllCurrent = stored[current] === OBJECTS;
  const isOfNow = status.target?.version === current;
  const claimed = {
    isTrimmed: !isAllCurrent && storedVersions.length < 2,
    isProved: !isAllCurrent && isOfNow && status.proof !== undefined,
    isTrimmedUnproved: storedVersions.length < 2 && status.proof?.version !== current,
  };
  expect(claimed).toEqual({ isTrimmed: false, isProved: false, isTrimmedUnproved: false });
}

async function expectDone(
  kind: VersionedKind,
  current: KindVersion,
  before: Awaited<ReturnType<VersionedKind['stored']>>,
): Promise<void> {
  const status = await world.status(kind.crdName);
  expect(status).toMatchObject({ phase: 'Done', proof: { version: current, objects: OBJECTS } });
  expect(status.worker).toBeUndefined();
  expect((await kind.read()).status.storedVersions).toEqual([current]);
  expect(await world.stored(kind)).toEqual({ [current]: OBJECTS });
  expect(await world.eventsOn(kind)).toContain(
    `StoredVersionsTrimmed: Took ${current === OLD ? CURRENT : OLD} off the stored versions: ` +
      `all 2 objects are proved to be stored as ${current}.`,
  );
  for (const [name, { spec, metadata }] of await kind.stored()) {
    expect(spec).toEqual(before.get(name)?.['spec']);
    expect(metadata.managedFields).toEqual(before.get(name)?.metadata.managedFields);
  }
}
