// A step that the API server refuses: a lasting refusal is written to the status and waited for, a
// passing one fails the request.
import { describe, expect, test } from 'vitest';
import type { Deps } from '../../../functions/storage-migration/deps.ts';
import { applyStep } from '../../../functions/storage-migration/steps.ts';
import { Pass } from '../../../functions/storage-migration/pass.ts';
import { systemClock } from '../../../shared/clock.ts';
import { errorFromAnswer, isKubeError, readStatus } from '../../../shared/kube/errors.ts';
import type { KubeObject, Manifest, ResourceRef } from '../../../shared/kube/objects.ts';
import { at, type CrdChanges, migration, PROOF, target } from './samples.ts';

const refused = (code: number, reason: string) => {
  const about = { verb: 'patch', ref: target().ref, name: 'w' } as const;
  const message = `${reason}, says the API server`;
  return errorFromAnswer(about, readStatus(code, JSON.stringify({ reason, message })));
};
const FORBIDDEN = refused(403, 'Forbidden');
const AWAY = refused(503, 'ServiceUnavailable');

/** An API server on which one verb, or every call but that for the status, fails. */
function task(fails: Readonly<Record<string, Error>>, changes: CrdChanges = {}) {
  const answer = (verb: string, value: unknown) => async () => {
    if (fails[verb] !== undefined) throw fails[verb];
    return value;
  };
  const list = { items: [], metadata: { resourceVersion: '1' } };
  const kube = {
    get: answer('get', null),
    list: answer('list', list),
    patch: answer('patch', {}),
    create: answer('create', {}),
    raw: answer('raw', { text: '{"resources":[]}' }),
    apply: async (_ref: ResourceRef, manifest: Manifest): Promise<KubeObject> =>
      ({ ...migration().object, ...manifest }) as KubeObject,
  };
  const deps = {
    kube,
    clock: systemClock,
    id: 'me',
    workMs: 0,
    settleMs: 0,
    longestWriteMs: 0,
  } as unknown as Deps;
  const { signal } = new AbortController();
  const pass = new Pass(deps, { concurrency: 1 }, signal);
  return { deps, target: target(changes), pass, endsAtMs: 0, signal };
}

async function outcome(
  one: ReturnType<typeof task>,
  step: 'settle' | 'pass' | 'trim' | 'probe',
  status = at('Settling'),
): Promise<unknown> {
  try {
    const { migration: now } = await applyStep(one, { type: step }, migration({ status }));
    const { phase, blockedIn, proof, trimmed, conditions = [] } = now.status;
    const reason = conditions.find(({ type }) => type === 'Blocked')?.reason;
    return { phase, blockedIn, reason, isProved: proof !== undefined, trimmed };
  } catch (error) {
    return isKubeError(error) ? error.code : error;
  }
}

const TRIMMING = at('Trimming', {
  proof: PROOF,
  target: {
    version: 'v1',
    kind: 'Widget',
    dryRun: false,
    crdUid: 'u1',
    crdGeneration: 2,
    crdResourceVersion: '400',
  },
});

describe('what nobody allows is said, and waited for', () => {
  test('the list of API servers', async () => {
    expect(await outcome(task({ list: FORBIDDEN }), 'settle')).toMatchObject({
      phase: 'Blocked',
      blockedIn: 'Settling',
      reason: 'RightsMissing',
    });
  });

  test('the trim: what is proved stays proved', async () => {
    expect(await outcome(task({ patch: FORBIDDEN }), 'trim', TRIMMING)).toMatchObject({
      phase: 'Blocked',
      blockedIn: 'Trimming',
      reason: 'RightsMissing',
      isProved: true,
    });
  });

  test('a pass', async () => {
    expect(await outcome(task({ list: FORBIDDEN }), 'pass', at('Verifying'))).toMatchObject({
      phase: 'Blocked',
      blockedIn: 'Verifying',
      reason: 'RightsMissing',
    });
  });
});

describe('a server that fails', () => {
  test('in a pass is said', async () => {
    expect(await outcome(task({ list: AWAY }), 'pass', at('Rewriting'))).toMatchObject({
      phase: 'Blocked',
      reason: 'SampleFails',
    });
  });

  test.each([
    ['settle', { list: AWAY }, at('Settling')],
    ['trim', { patch: AWAY }, TRIMMING],
  ] as const)('in %s is told to whoever woke us', async (step, fails, status) => {
    expect(await outcome(task(fails), step, status)).toBe('KUBE_UNAVAILABLE');
  });
});

test('a trim that is done is said, though nobody may make Events', async () => {
  const done = task({ create: FORBIDDEN }, { storedVersions: ['v1'] });
  expect(await outcome(done, 'trim', TRIMMING)).toEqual({
    phase: 'Done',
    blockedIn: undefined,
    reason: 'NotBlocked',
    isProved: true,
    trimmed: ['v1alpha1'],
  });
});
