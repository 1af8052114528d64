// The StatefulSet of any servers: nothing but a step of the function restarts a server, takes its
// claim away, or puts it where it must not be.
import { expect, test } from 'vitest';
import { claimTemplateIn, claimTemplateOf } from '../../../shared/stateful/claim-template.ts';
import { goMemoryLimit, spreadOver, statefulSetOf } from '../../../shared/stateful/pod-spec.ts';
import { podOf } from '../../../shared/stateful/pods.ts';

const SELECTOR = { db: 'db' };
const SET = {
  replicas: 3,
  serviceName: 'db-headless',
  selector: SELECTOR,
  labels: { ...SELECTOR, app: 'db' },
  templateHash: 'hash',
  pod: { containers: [] },
};

test('a changed template restarts no pod, and no claim goes with a server or with the set', () => {
  expect(statefulSetOf(SET)).toMatchObject({
    updateStrategy: { type: 'OnDelete' },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
  });
});

test('a pod that is made of a template tells its hash', () => {
  const { template } = statefulSetOf(SET) as {
    readonly template: { readonly metadata: { readonly annotations: Record<string, string> } };
  };
  const metadata = { name: 'db-0', uid: 'u', resourceVersion: '1', ...template.metadata };
  expect(podOf({ apiVersion: 'v1', kind: 'Pod', metadata }, 0).templateHash).toBe('hash');
});

test.each(['fast', undefined])('claims are of the class that was asked for: %s', (class_) => {
  const shape = {
    name: 'data',
    labels: SELECTOR,
    size: '10Gi',
    accessMode: 'ReadWriteOnce',
  } as const;
  const template = claimTemplateOf({ ...shape, storageClassName: class_ });
  const set = { spec: statefulSetOf({ ...SET, volumeClaimTemplates: [template] }) };
  expect(claimTemplateIn(set)).toEqual({
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '10Gi' } },
    ...(class_ === undefined ? {} : { storageClassName: class_ }),
  });
});

test('servers without claims have no template of any', () => {
  expect(Object.keys(statefulSetOf(SET))).not.toContain('volumeClaimTemplates');
});

test.each([
  [true, ['DoNotSchedule', 'ScheduleAnyway']],
  [false, ['ScheduleAnyway', 'ScheduleAnyway']],
])('nodes differ for certain when that is required (%s), zones where they can', (is, rules) => {
  const constraints = spreadOver(SELECTOR, is);
  expect(constraints.map(({ whenUnsatisfiable }) => whenUnsatisfiable)).toEqual(rules);
  // Else those that are more than the nodes would share them.
  expect(constraints.map((one) => one.minDomains)).toEqual([is ? 1_000 : undefined, undefined]);
  expect(constraints.map(({ labelSelector }) => labelSelector.matchLabels)).toEqual([
    SELECTOR,
    SELECTOR,
  ]);
});

test('a server in Go may take four fifths of its limit, if there is one', () => {
  expect(goMemoryLimit({ memory: '1000k' })).toEqual([{ name: 'GOMEMLIMIT', value: '800000' }]);
  expect([goMemoryLimit({ cpu: '1' }), goMemoryLimit(undefined)]).toEqual([[], []]);
});
