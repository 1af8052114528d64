// The old object is deleted by somebody, and the takeover is rolled back: what was made may have
// all that is left of the data, and none of it is deleted.
import { expect, test } from 'vitest';
import { LEGACY_ETCDS } from '../../../shared/api/takeover.ts';
import { CLAIMS } from '../../../shared/stateful/parts.ts';
import { Carrying } from './carrying.ts';
import { at } from './others-at-work.ts';
import { forcedAt } from './restore-lives.ts';
import { type AnyRun, namesOf } from './takeover-run.ts';
import { WipeCarrying } from './wipe-carrying.ts';

const SWEEPS = 30;

/** Once the new cluster is whole. */
const isTime = ({ step, status }: AnyRun): boolean =>
  step === 'SwitchService' && status.work?.switchingAt === undefined;

async function expectKept(run: AnyRun, befalls: () => void): Promise<void> {
  run.befalls = befalls;
  expect(await run.converge(SWEEPS)).toBe(false);
  expect(run.condition()).toBe('True LegacyGone');
  expect(run.status.phase).toBe('RollingBack');
  expect(namesOf(run, 'etcdclusters')).toContain('new');
  expect(namesOf(run, 'persistentvolumeclaims')).toContain('data-new-0');
}

const end = ({ kube }: Pick<AnyRun, 'kube'>): void => {
  const deletionTimestamp = '2026-11-26T08:00:00Z';
  kube.change(LEGACY_ETCDS, at('old'), { metadata: { deletionTimestamp } });
};

/** Rolled back, and the old object begins to end. */
const endedBack = (run: AnyRun) => (): void => {
  if (!isTime(run)) return;
  run.edit({ rollback: true });
  end(run);
};

test('Wipe: rolled back while the old object ends nothing is deleted', async () => {
  const run = await WipeCarrying.confirmed();
  await expectKept(run, endedBack(run));
});

test('Restore: rolled back while the old object ends writers go on', async () => {
  const run = await Carrying.confirmed();
  await expectKept(run, endedBack(run));
  expect(run.etcds.alarms).toEqual([]);
});

test('Restore: rolled back without the old object nothing is deleted', async () => {
  const run = await Carrying.confirmed();
  await expectKept(run, () => {
    if (!isTime(run) || !namesOf(run, 'etcdclusters').includes('old')) return;
    run.edit({ rollback: true });
    for (const name of run.old.claims) {
      run.kube.change(CLAIMS, at(name), { metadata: { ownerReferences: null } });
    }
    run.kube.remove(LEGACY_ETCDS, at('old'));
  });
});

test('Restore: nothing is deleted for another attempt while the old object ends', async () => {
  const run = await Carrying.confirmed();
  const force = forcedAt('SwitchService');
  run.befalls = () => {
    force(run);
    if (run.status.work?.undoing !== undefined) end(run);
  };
  expect(await run.converge(SWEEPS)).toBe(false);
  expect(run.condition()).toBe('True LegacyGone');
  expect(namesOf(run, 'etcdclusters')).toEqual(['new', 'old']);
});
