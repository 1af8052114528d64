// Secret values are never shown, whatever objects look like; and no object makes the feed fail.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { BUILT_IN } from '../../../shared/feed/projections/built-in.ts';
import { show } from '../../../shared/feed/projections/show.ts';
import type { SourceObject } from '../../../shared/feed/projections/source.ts';
import { object, plan } from './objects.ts';

type Arbitraries = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const CANARY = 'hunter2';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const RESOURCES = [
  ...BUILT_IN.map(({ resource }) => resource),
  'widgets.example.com',
  'secrets',
  'configmaps',
];

/** A canary, somewhere in any JSON. */
const { secret } = fc.letrec<{ secret: unknown }>((tie) => ({
  secret: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(CANARY, { [CANARY]: 1 }),
    fc.array(tie('secret'), { minLength: 1, maxLength: 2 }),
    fc.dictionary(fc.string(), tie('secret'), { minKeys: 1, maxKeys: 2 }),
  ),
}));
const unknownFields = fc.dictionary(
  fc.string().map((name) => `x${name}`),
  secret,
  { maxKeys: 2 },
);
/** Stands where a text, a number or a list should be. */
const odd = secret.map((hidden) => ({ x: hidden }));

/** Known fields among unknown ones; some are missing, and one in ten is not of its type. */
function part(known: Arbitraries): fc.Arbitrary<Record<string, unknown>> {
  const spoilt = Object.fromEntries(
    Object.entries(known).map(([name, value]) => [
      name,
      fc.oneof({ arbitrary: value, weight: 9 }, { arbitrary: odd, weight: 1 }),
    ]),
  );
  return fc
    .tuple(unknownFields, fc.record(spoilt, { requiredKeys: [] }))
    .map(([more, fields]) => ({ ...more, ...fields }));
}

const text = fc.constant('seen');
const textMap = odd.map((hidden) => ({ app: 'seen', odd: hidden }));
const list = (entry: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.array(fc.oneof({ arbitrary: entry, weight: 9 }, { arbitrary: odd, weight: 1 }), {
    maxLength: 2,
  });
const hiddenInContainer = {
  env: secret,
  envFrom: secret,
  args: secret,
  command: secret,
};
const container = part({ name: text, image: text, volumeMounts: secret, ...hiddenInContainer });
const state = part({ reason: text, message: secret });
const containerStatus = part({
  name: text,
  ready: fc.boolean(),
  restartCount: fc.nat(),
  containerID: text,
  imageID: secret,
  lastState: secret,
  state: part({ running: state, waiting: state, terminated: state }),
});
const port = part({ name: text, port: fc.nat(), protocol: text, targetPort: fc.nat() });
const condition = part({ type: fc.constant('Ready'), status: text, message: secret });
/** Shown as they are: a selector, and fields of others' kinds that are asked for by name. */
const named = fc.record({
  selector: fc.record({ matchLabels: textMap, matchExpressions: odd }),
  visible: text,
  template: fc.record({
    metadata: fc.record({ annotations: secret }),
    spec: fc.record({ containers: fc.array(fc.record(hiddenInContainer)), volumes: secret }),
  }),
});

const anyObject = fc
  .record({
    metadata: fc.record({
      name: text,
      namespace: text,
      uid: text,
      resourceVersion: text,
      labels: textMap,
      annotations: secret.map((hidden) => ({
        'example.com/ok': 'seen',
        'example.com/other': CANARY,
        [LAST_APPLIED]: JSON.stringify(hidden),
      })),
      managedFields: secret,
      finalizers: secret,
      ownerReferences: list(part({ kind: text, name: text, uid: text, controller: fc.boolean() })),
    }),
    spec: part({
      nodeName: text,
      volumes: secret,
      initContainers: list(container),
      containers: list(container),
      ephemeralContainers: list(container),
      clusterIPs: list(text),
      ports: list(port),
      replicas: fc.nat(),
    }).chain((spec) => named.map((more) => ({ ...spec, ...more }))),
    status: part({
      phase: text,
      reason: text,
      message: secret,
      podIPs: list(part({ ip: text })),
      addresses: list(part({ type: fc.constant('InternalIP'), address: text })),
      conditions: list(condition),
      containerStatuses: list(containerStatus),
      initContainerStatuses: list(containerStatus),
      loadBalancer: part({ ingress: list(part({ ip: text, hostname: secret })) }),
    }),
    endpoints: list(
      part({
        addresses: list(text),
        nodeName: text,
        zone: secret,
        hints: secret,
        targetRef: part({ kind: fc.constant('Pod'), name: text, uid: text, fieldPath: secret }),
      }),
    ),
    ports: list(port),
    data: secret,
    stringData: secret,
    binaryData: secret,
  })
  .chain((known) => unknownFields.map((more) => ({ ...more, kind: 'seen', ...known })));

const hiddenPaths = [
  '',
  '.spec.visible',
  '.spec.template',
  '.metadata',
  '.metadata.annotations',
  '.metadata.managedFields',
  `.metadata.annotations['${LAST_APPLIED}']`,
  '.spec.template.spec.containers[0].env',
  '.spec.volumes',
];
const dataPaths = [...hiddenPaths, '.data', '.stringData', "['binaryData']", '.data.x', '.data[0]'];

function fieldsFor(resource: string): typeof plan.fields {
  const all = resource === 'widgets.example.com' ? hiddenPaths : dataPaths;
  return all.map((path, at) => ({ name: `f${at}`, path }));
}

test('a secret is seen nowhere, wherever it hides', () => {
  const podAnnotations = ['example.com/ok', '*last-applied*', 'kubectl.kubernetes.io/*'];
  let seen = 0;
  fc.assert(
    fc.property(anyObject, (source) => {
      for (const resource of RESOURCES) {
        const shown = show(resource, source as unknown as SourceObject, {
          ...plan,
          podAnnotations,
          fields: fieldsFor(resource),
        });
        const all = JSON.stringify(shown);
        expect(all).not.toContain(CANARY);
        seen += all.split('"seen"').length;
      }
    }),
    { numRuns: 300 },
  );
  expect(seen).toBeGreaterThan(300 * RESOURCES.length * 5);
});

const NAMES = ['spec', 'status', 'labels', 'annotations', 'ownerReferences', 'name']
  .concat(['containers', 'initContainers', 'containerStatuses', 'state', 'running', 'conditions'])
  .concat(['podIPs', 'ip', 'nodeName', 'addresses', 'endpoints', 'targetRef', 'ports', 'selector'])
  .concat(['matchLabels', 'replicas', 'loadBalancer', 'ingress', 'type', 'controller', '__proto__'])
  .concat(['constructor', '0', '10', '9', 'a']);

const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 'Ready', 'Pod', 7, ''),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 6 }),
  ),
}));

/** The same JSON, its fields in the other direction. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([name, field]) => [name, turned(field)]));
}

test('however odd an object is it can be shown, and the same object gives the same bytes', () => {
  const fields = ['.spec', '.status.conditions', '.spec.constructor', '.a[0]'].map((path) => ({
    name: path,
    path,
  }));
  const bytes = (resource: string, source: unknown): readonly string[] =>
    show(resource, source as SourceObject, { ...plan, podAnnotations: ['*'], fields }).map(
      ({ subject, message }) => `${subject} ${Buffer.from(encodeMessage(message)).toString()}`,
    );
  const anyFields = fc.dictionary(fc.constantFrom(...NAMES), anyValue);
  fc.assert(
    fc.property(anyFields, anyFields, (rest, more) => {
      const source = object('Widget', { ...more, name: 'a', namespace: 'web' }, rest);
      for (const resource of RESOURCES) {
        expect(bytes(resource, turned(source))).toEqual(bytes(resource, source));
      }
    }),
    { numRuns: 300 },
  );
});
