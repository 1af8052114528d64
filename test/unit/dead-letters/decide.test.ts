// What becomes of a letter: one Event for one cause about one object.
import { expect, test } from 'vitest';
import { eventAbout, eventOnBroker } from '../../../functions/dead-letters/decide.ts';
import { readLetter } from '../../../functions/dead-letters/letter.ts';
import { letterEvent } from './letters.ts';

const BY = {
  instance: 'dead-letters-00001-deployment-abc',
  nowMs: Date.parse('2026-11-21T12:00Z'),
};
const PLACE = { namespace: 'ballast-system', broker: 'ballast' };

const about = (changes: Readonly<Record<string, unknown>> = {}) =>
  eventAbout(readLetter(letterEvent(changes)), BY);
const onBroker = (changes: Readonly<Record<string, unknown>> = {}) =>
  eventOnBroker(readLetter(letterEvent(changes)), PLACE, BY);

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

test('an object of no namespace has its Event in default, where kubectl looks', () => {
  const event = about({ kind: 'Node', name: 'n1', namespace: '', data: undefined });
  expect(event?.metadata.namespace).toBe('default');
  expect(event?.['regarding']).toEqual({ apiVersion: 'v1', kind: 'Node', name: 'n1' });
});

test('without an object the broker is where it shows', () => {
  expect(about({ kind: undefined })).toBeUndefined();
  expect(onBroker({ kind: undefined })).toMatchObject({
    metadata: { namespace: 'ballast-system' },
    regarding: { kind: 'Broker', name: 'ballast', namespace: 'ballast-system' },
  });
});

test('letters of one cause about one object have one name, and on the broker of one kind', () => {
  const later = { id: '2', knativeerrordata: '' };
  expect(about({ id: '2' })?.metadata.name).toBe(about()?.metadata.name);
  expect(onBroker({ name: 'web-2' }).metadata.name).toBe(onBroker().metadata.name);
  const others = [
    { name: 'web-2' },
    { namespace: 'other' },
    { ballastfunction: 'storage-migration' },
    { knativeerrorcode: '400' },
    { type: 'dev.knative.apiserver.resource.delete' },
    later,
  ].map((changes) => about(changes)?.metadata.name);
  expect(new Set([...others, about()?.metadata.name]).size).toBe(others.length + 1);
});

test('a note is never longer than the API server takes, nor cut within a character', () => {
  const long = { type: 'ü'.repeat(900) };
  const note = String(about(long)?.['note']);
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
  expect(note).not.toContain('\uFFFD');
});
