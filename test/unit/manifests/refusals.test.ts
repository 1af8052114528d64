// Whatever the embedded control plane does not carry is refused, and the message names the file and
// the field.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ManifestError } from '../../../knative/try/local/manifests/fields.ts';
import { wiringOf } from '../../../knative/try/local/manifests/load.ts';

const BROKER = `
apiVersion: eventing.knative.dev/v1
kind: Broker
metadata: { name: b, namespace: ns }
`;
const SERVICE = `
apiVersion: serving.knative.dev/v1
kind: Service
metadata: { name: f, namespace: ns }
spec: { template: { spec: { serviceAccountName: sa, containers: [{ image: i }] } } }
`;
const ACCOUNT = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: sa, namespace: ns }
`;
const TO_BROKER = '{ ref: { apiVersion: eventing.knative.dev/v1, kind: Broker, name: b } }';
const TO_SERVICE = '{ ref: { apiVersion: serving.knative.dev/v1, kind: Service, name: f } }';
const trigger = (spec: string): string => `
apiVersion: eventing.knative.dev/v1
kind: Trigger
metadata: { name: t, namespace: ns }
spec: { broker: b, subscriber: ${TO_SERVICE}, ${spec} }
`;
const source = (spec: string): string => `
apiVersion: sources.knative.dev/v1
kind: ApiServerSource
metadata: { name: s, namespace: ns }
spec:
  serviceAccountName: sa
  resources: [{ apiVersion: v1, kind: Pod }]
  sink: ${TO_BROKER}
  ${spec}
`;
const ping = (spec: string): string => `
apiVersion: sources.knative.dev/v1
kind: PingSource
metadata: { name: p, namespace: ns }
spec: { sink: ${TO_BROKER}, ${spec} }
`;

const load = (...texts: readonly string[]) =>
  wiringOf(
    [BROKER, SERVICE, ACCOUNT, ...texts].map((text, index) => ({
      file: `${index}.yaml`,
      value: parse(text),
    })),
  );

test('what all rows below start from is taken', () => {
  const wiring = load(trigger(''), source(''), ping('schedule: "0 3 * * *"'));
  expect(wiring.triggers[0]?.delivery).toEqual({
    retries: 10,
    backoff: { policy: 'exponential', delayMs: 200 },
  });
  expect(wiring.sources[0]).toMatchObject({ mode: 'Reference', namespaces: ['ns'] });
});

const ROWS: readonly (readonly [name: string, manifest: string, field: string, words: string])[] = [
  [
    'a cesql filter',
    trigger('filters: [{ cesql: "a = b" }]'),
    'spec.filters[0].cesql',
    'does not speak',
  ],
  [
    'a cesql filter deep inside',
    trigger('filters: [{ not: { any: [{ cesql: "1" }] } }]'),
    'spec.filters[0].not.any[0].cesql',
    'does not speak',
  ],
  [
    'two dialects in one filter',
    trigger('filters: [{ exact: { type: a }, prefix: { type: b } }]'),
    'spec.filters[0].exact, prefix',
    'exactly one',
  ],
  [
    'a dialect that nobody knows',
    trigger('filters: [{ regex: { type: a } }]'),
    'spec.filters[0].regex',
    'not carried',
  ],
  [
    'an exact filter for the empty text',
    trigger('filters: [{ exact: { type: "" } }]'),
    'spec.filters[0].exact.type',
    'empty',
  ],
  [
    'a filter that names no attribute',
    trigger('filters: [{ exact: {} }]'),
    'spec.filters[0].exact',
    'attribute',
  ],
  [
    'an attribute that cannot be',
    trigger('filter: { attributes: { "ce-type": a } }'),
    'spec.filter.attributes.ce-type',
    'attribute name',
  ],
  [
    'a filter by number',
    trigger('filter: { attributes: { type: 5 } }'),
    'spec.filter.attributes.type',
    'text',
  ],
  [
    'a broker in another namespace',
    trigger('brokerRef: { name: b }'),
    'spec.brokerRef',
    'not carried',
  ],
  [
    'a trigger whose broker is missing',
    trigger('').replace('broker: b', 'broker: c'),
    'spec.broker',
    'ns/c',
  ],
  [
    'a subscriber that is missing',
    trigger('').replace('name: f', 'name: g'),
    'spec.subscriber',
    'Service ns/g',
  ],
  [
    'a subscriber of another kind',
    trigger('').replace('kind: Service', 'kind: Channel'),
    'spec.subscriber.ref.kind',
    'Broker, Service',
  ],
  [
    'a plain Service as subscriber',
    trigger('').replace('serving.knative.dev/v1', 'v1'),
    'spec.subscriber.ref.apiVersion',
    'serving.knative.dev/v1',
  ],
  [
    'Retry-After, whose feature is off',
    trigger('delivery: { retryAfterMax: PT5S }'),
    'spec.delivery.retryAfterMax',
    'not carried',
  ],
  [
    'a delay that is no duration',
    trigger('delivery: { backoffPolicy: linear, backoffDelay: 5s }'),
    'spec.delivery.backoffDelay',
    'ISO 8601',
  ],
  [
    'a policy without a delay',
    trigger('delivery: { backoffPolicy: linear }'),
    'spec.delivery.backoffPolicy',
    'together',
  ],
  [
    'another policy',
    trigger('delivery: { backoffPolicy: random, backoffDelay: PT1S }'),
    'spec.delivery.backoffPolicy',
    'exponential, linear',
  ],
  ['a negative retry', trigger('delivery: { retry: -1 }'), 'spec.delivery.retry', 'negative'],
  [
    'a timeout of nothing',
    trigger('delivery: { timeout: PT0S }'),
    'spec.delivery.timeout',
    'longer',
  ],
  [
    'a dead letter sink that is missing',
    trigger(`delivery: { deadLetterSink: ${TO_SERVICE.replace('name: f', 'name: g')} }`),
    'spec.delivery.deadLetterSink',
    'Service ns/g',
  ],
  [
    'namespaces by label',
    source('namespaceSelector: { matchLabels: { a: b } }'),
    'spec.namespaceSelector',
    'controller',
  ],
  [
    'filters of a source, whose feature is off',
    source('filters: [{ exact: { type: a } }]'),
    'spec.filters',
    'not carried',
  ],
  ['another mode', source('mode: Whole'), 'spec.mode', 'Reference, Resource'],
  [
    'a source that watches nothing',
    source('').replace('[{ apiVersion: v1, kind: Pod }]', '[]'),
    'spec.resources',
    'at least one',
  ],
  [
    'a label selector that is none',
    source('').replace(
      'kind: Pod',
      'kind: Pod, selector: { matchExpressions: [{ key: a, operator: In }] }',
    ),
    'spec.resources[0].selector.matchExpressions[0].values',
    'empty',
  ],
  [
    'a source whose account is missing',
    source('').replace('serviceAccountName: sa', 'serviceAccountName: none'),
    'serviceAccountName',
    'none',
  ],
  [
    'a sink over TLS',
    source('').replace(TO_BROKER, '{ uri: "https://example.com" }'),
    'spec.sink.uri',
    'http://',
  ],
  [
    'a sink that is nowhere',
    source('').replace(TO_BROKER, '{}'),
    'spec.sink.ref',
    'where events go',
  ],
  [
    'an extension that cannot be',
    source('ceOverrides: { extensions: { a-b: c } }'),
    'spec.ceOverrides.extensions.a-b',
    'lower-case',
  ],
  ['a schedule that is none', ping('schedule: "61 * * * *"'), 'spec.schedule', 'cron'],
  ['a schedule by interval', ping('schedule: "@every 1m"'), 'spec.schedule', 'cron'],
  ['a schedule that never comes', ping('schedule: "0 0 31 2 *"'), 'spec.schedule', 'never'],
  [
    'a time zone that is none',
    ping('schedule: "* * * * *", timezone: Mars/Base'),
    'spec.schedule',
    'Mars/Base',
  ],
  [
    'two kinds of data',
    ping('schedule: "* * * * *", data: a, dataBase64: YQ=='),
    'spec.dataBase64',
    'exclude',
  ],
  [
    'a value from a Secret',
    SERVICE.replace('name: f', 'name: g').replace(
      'image: i',
      'image: i, env: [{ name: A, valueFrom: { secretKeyRef: { name: s, key: k } } }]',
    ),
    'spec.template.spec.containers[0].env[0].valueFrom.configMapKeyRef',
    'missing',
  ],
  [
    'a value that no ConfigMap has',
    SERVICE.replace('name: f', 'name: g').replace(
      'image: i',
      'image: i, env: [{ name: A, valueFrom: { configMapKeyRef: { name: s, key: k } } }]',
    ),
    'spec.template.spec.containers[0].env[0].valueFrom.configMapKeyRef.key',
    'no ConfigMap here has',
  ],
  [
    'a second container',
    SERVICE.replace('name: f', 'name: g').replace('[{ image: i }]', '[{ image: i }, { image: j }]'),
    'spec.template.spec.containers[1]',
    'one container',
  ],
  [
    'volumes',
    SERVICE.replace('name: f', 'name: g').replace(
      'serviceAccountName',
      'volumes: [{}], serviceAccountName',
    ),
    'spec.template.spec.volumes',
    'not carried',
  ],
  ['the same object twice', BROKER, 'metadata.name', '0.yaml'],
  [
    'a kind that nobody plays',
    BROKER.replace('kind: Broker', 'kind: Parallel'),
    'kind',
    'Parallel',
  ],
  [
    'an object without namespace',
    BROKER.replace(', namespace: ns', ''),
    'metadata.namespace',
    'missing',
  ],
];

test.each(ROWS)('%s is refused', (_name, manifest, field, words) => {
  const error = refusalOf(manifest);
  expect(error).toBeInstanceOf(ManifestError);
  expect({ file: error.file, field: error.field }).toEqual({ file: '3.yaml', field });
  expect(error.message).toContain(words);
  expect(error.message).toContain(`3.yaml: ${field}`);
});

function refusalOf(manifest: string): ManifestError {
  try {
    load(manifest);
  } catch (error) {
    return error as ManifestError;
  }
  throw new Error('it was taken');
}
