// A letter becomes one Event for one cause about one object.
import { expect, test } from 'vitest';
import { eventAbout, eventOfMany, eventOnBroker } from '../../../functions/dead-letters/decide.ts';
import { readLetter } from '../../../functions/dead-letters/letter.ts';
import { base64, KNOWN, letterEvent } from './letters.ts';

const BY = {
  instance: 'dead-letters-00001-deployment-abc',
  nowMs: Date.parse('2026-11-21T12:00Z'),
};
const PLACE = { namespace: 'ballast-system', broker: 'ballast' };

const about = (changes: Readonly<Record<string, unknown>> = {}) =>
  eventAbout(readLetter(letterEvent(changes), KNOWN), BY);
const onBroker = (changes: Readonly<Record<string, unknown>> = {}) =>
  eventOnBroker(readLetter(letterEvent(changes), KNOWN), PLACE, BY);

test('the Event is on the object, in its namespace, and says who answered what', () => {
  expect(about()).toMatchObject({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: 'shop' },
    eventTime: '2026-11-21T12:00:00.000000Z',
    type: 'Warning',
    reason: 'EventNotDelivered',
    reportingInstance: BY.instance,
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'u1' },
    note:
      'The function metadata did not take the event dev.knative.apiserver.resource.update, and ' +
      'nobody sends it again; it answered KUBE_FORBIDDEN: list pods was refused: "list" is ' +
      'lacking.',
  });
});

const GRANT = 'npm run -s rights -- metadata --secret nats | kubectl apply -f -';

test.each([
  ['NATS_UNAVAILABLE', 'NATS at nats:4222 cannot be reached (timeout). It is tried again.'],
  [
    'NATS_ACCESS_UNUSABLE',
    'The way to NATS at nats:4222 cannot be used: ca.crt cannot be read. Correct it there; it is ' +
      'tried again.',
  ],
  [
    'KUBE_UNAVAILABLE',
    'The API server cannot be reached (list pods: connect ECONNREFUSED). Try again later.',
  ],
  ['KUBE_TIMEOUT', 'The API server did not say in time what pods a/b is. It is asked again.'],
  ['FEED_NATS_UNKNOWN', `It may not be read. Grant it, and it is tried again: ${GRANT}`],
  ['INTERNAL_BUG', 'The function met a state that it believed impossible; send it again later.'],
  ['SENDER_KEYS_UNAVAILABLE', 'The API server does not answer: send the event again.'],
  ['DRAINING', 'This instance is about to end; send the request again, another one takes it.'],
  ['OVERLOADED', '9 requests are worked on, which is the limit; send this one again later.'],
])('an Event of %s does not promise what its first sentence denies', (code, detail) => {
  const note = String(about({ knativeerrordata: base64({ code, detail }) })?.['note']);
  expect(note).toContain('nobody sends it again');
  expect(note).toContain(detail.slice(0, 25));
  expect(note.match(/ again/g)).toHaveLength(1);
});

test('what helps is still said when the promise is left out', () => {
  const detail = `It may not be read. Grant it, and it is tried again: ${GRANT}`;
  const note = about({ knativeerrordata: base64({ code: 'FEED_NATS_UNKNOWN', detail }) })?.['note'];
  expect(note).toMatch(`FEED_NATS_UNKNOWN: It may not be read. Grant it: ${GRANT}`);
});

test('an object of no namespace has its Event in default, where kubectl looks', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u2' } };
  const event = about({ kind: 'Node', name: 'n1', namespace: '', data: node });
  expect(event?.metadata.namespace).toBe('default');
  expect(event?.['regarding']).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    name: 'n1',
    uid: 'u2',
  });
});

test('without an object the broker is where it shows', () => {
  expect(about({ kind: undefined })).toBeUndefined();
  expect(onBroker({ kind: undefined })).toMatchObject({
    metadata: { namespace: 'ballast-system' },
    regarding: { kind: 'Broker', name: 'ballast', namespace: 'ballast-system' },
  });
});

test('letters of one cause about one object have one name, and on the broker of one kind', () => {
  expect(about({ id: '2' })?.metadata.name).toBe(about()?.metadata.name);
  expect(onBroker({ name: 'web-2' }).metadata.name).toBe(onBroker().metadata.name);
  const others = [
    { ballastfunction: 'storage-migration' },
    { knativeerrorcode: '400' },
    { type: 'dev.knative.apiserver.resource.delete' },
    { id: '2', knativeerrordata: '' },
    { data: { ...POD, metadata: { ...POD.metadata, uid: 'u2' } } },
  ].map((changes) => about(changes)?.metadata.name);
  expect(new Set([...others, about()?.metadata.name]).size).toBe(others.length + 1);
});

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'web-1', uid: 'u1' },
};
const SYSTEM = { ...POD, metadata: { ...POD.metadata, namespace: 'kube-system' } };

test.each([
  ['without its object', { data: undefined }],
  ['with another kind of object', { data: { ...POD, kind: 'Secret' } }],
  ['with an object of another version', { data: { ...POD, apiVersion: 'v2' } }],
  ['with another name', { name: 'web-2' }],
  ['with another namespace', { namespace: 'other' }],
  ['with no uid', { data: { ...POD, metadata: { ...POD.metadata, uid: '' } } }],
  ["of one of the cluster's own namespaces", { namespace: 'kube-system', data: SYSTEM }],
])('a letter about an object %s is shown on the broker, in words of ours', (_what, changes) => {
  expect(about(changes)).toBeUndefined();
  const said = base64({ code: 'KUBE_FORBIDDEN', detail: 'Call 555-1234 now.' });
  const event = onBroker({ ...changes, knativeerrordata: said });
  expect(event.metadata.namespace).toBe('ballast-system');
  expect(event['note']).toContain('KUBE_FORBIDDEN: The API server refused a request');
  expect(event['note']).not.toContain('555');
});

test('whatever senders invent is one Event', () => {
  const invented = Array.from({ length: 500 }, (_, at) => ({
    kind: undefined,
    ballastfunction: `f-${at}`,
    knativeerrorcode: String(100 + at),
    knativeerrordata: base64({ code: `CODE_${at}` }),
  }));
  const names = new Set(invented.map((changes) => onBroker(changes).metadata.name));
  // Answers of proxies are told apart.
  expect(names.size).toBeLessThan(20);
  expect(names).not.toContain(eventOfMany(PLACE, BY).metadata.name);
});

test('a note is never longer than the API server takes, nor cut within a character', () => {
  const long = { type: 'ü'.repeat(900) };
  const note = String(about(long)?.['note']);
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
  expect(note).not.toContain('\uFFFD');
});
