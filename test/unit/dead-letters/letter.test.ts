// A dead letter is read whatever it looks like, and nothing is believed that makes no sense.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLetter } from '../../../functions/dead-letters/letter.ts';
import { base64, KNOWN, letterEvent, PROBLEM } from './letters.ts';

test('function, answer and object are read from what the broker and the source wrote', () => {
  expect(readLetter(letterEvent(), KNOWN)).toEqual({
    type: 'dev.knative.apiserver.resource.update',
    functionName: 'metadata',
    status: '503',
    code: 'KUBE_FORBIDDEN',
    answer: 'list pods was refused: "list" is lacking.',
    subject: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'u1' },
  });
});

test.each([
  ['the extension', {}, 'metadata'],
  ['the host that failed', { ballastfunction: undefined }, 'metadata'],
  ['the host, when the extension is no name', { ballastfunction: 'A b' }, 'metadata'],
  [
    'nothing, when the name is invented',
    { ballastfunction: 'metadata-2', knativeerrordest: '' },
    'unknown',
  ],
  ['nothing', { ballastfunction: undefined, knativeerrordest: '' }, 'unknown'],
  [
    'an address is no name',
    { ballastfunction: undefined, knativeerrordest: 'http://127.0.0.1:80/' },
    'unknown',
  ],
])('the function is told by %s', (_how, changes, name) => {
  expect(readLetter(letterEvent(changes), KNOWN).functionName).toBe(name);
});

test('an answer that was cut off still tells its code, and as much as is there', () => {
  const cut = JSON.stringify(PROBLEM).slice(0, -20);
  const letter = readLetter(letterEvent({ knativeerrordata: base64(cut) }), KNOWN);
  expect(letter).toMatchObject({
    code: 'KUBE_FORBIDDEN',
    answer: expect.stringMatching(/^list pods/),
  });
});

test('an answer that is none of ours is told as it is', () => {
  const letter = readLetter(letterEvent({ knativeerrordata: base64('no\n upstream') }), KNOWN);
  expect(letter).toMatchObject({ code: undefined, answer: 'no upstream' });
});

test.each([
  ['no answer', { knativeerrorcode: undefined, knativeerrordata: undefined }],
  ['a code that is no status', { knativeerrorcode: 'x'.repeat(99) }],
])('%s: the status is none', (_name, changes) => {
  expect(readLetter(letterEvent(changes), KNOWN).status).toBe('none');
});

test('an object of no namespace, and an event about no object', () => {
  const node = { kind: 'Node', name: 'n1', namespace: '', data: undefined };
  expect(readLetter(letterEvent(node), KNOWN).subject).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    name: 'n1',
    namespace: undefined,
    uid: undefined,
  });
  expect(readLetter(letterEvent({ name: undefined }), KNOWN).subject).toBeUndefined();
});

test('the uid of another object is not taken', () => {
  const data = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-2', uid: 'u2' } };
  expect(readLetter(letterEvent({ data }), KNOWN).subject?.uid).toBeUndefined();
});

test('whatever stands in the attributes, reading never fails and labels stay small', () => {
  const value = fc.oneof(fc.string(), fc.base64String(), fc.integer(), fc.boolean());
  const names = ['ballastfunction', 'knativeerrordest', 'knativeerrorcode', 'knativeerrordata'];
  const changes = fc.record(
    Object.fromEntries([...names, 'kind', 'name'].map((name) => [name, value])),
  );
  fc.assert(
    fc.property(changes, fc.jsonValue({ maxDepth: 3 }), (attributes, data) => {
      const letter = readLetter(letterEvent({ ...attributes, data }), KNOWN);
      expect([...KNOWN, 'unknown']).toContain(letter.functionName);
      expect(letter.status).toMatch(/^(\d{3}|none|other)$/);
      expect(letter.answer.length).toBeLessThanOrEqual(401);
    }),
  );
});
