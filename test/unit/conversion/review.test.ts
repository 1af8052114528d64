// A ConversionReview and its answer: all objects, or the name of the first that is at fault.
import { expect, test } from 'vitest';
import { answerReview } from '../../../functions/conversion/review.ts';

const TYPE = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' };
const BETA = 'ballast.dev/v1beta1';
const migration = (name: string) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'StorageMigration',
  metadata: { name },
  spec: { pause: true },
});

const review = (objects: readonly unknown[], desiredAPIVersion: unknown = BETA) => ({
  ...TYPE,
  request: { uid: 'u-1', desiredAPIVersion, objects },
});

const messageOf = (...args: Parameters<typeof review>): string => {
  const { response } = answerReview(review(...args));
  expect(response).toMatchObject({ uid: 'u-1', convertedObjects: [] });
  return response.result.status === 'Failure' ? response.result.message : 'Success';
};

test('500 objects are answered in their order', () => {
  const names = Array.from({ length: 500 }, (_, index) => `m${index}`);
  const { apiVersion, kind, response } = answerReview(review(names.map(migration)));
  expect({ apiVersion, kind }).toEqual(TYPE);
  expect(response.result).toEqual({ status: 'Success' });
  expect(response.convertedObjects).toEqual(
    names.map((name) => ({ ...migration(name), apiVersion: BETA, spec: { paused: true } })),
  );
});

test('no object is an answer of none', () => {
  expect(answerReview(review([])).response).toEqual({
    uid: 'u-1',
    convertedObjects: [],
    result: { status: 'Success' },
  });
});

const bad = { ...migration('bad'), metadata: { namespace: 'shop', name: 'bad' } };

test.each([
  [
    [{ ...bad, kind: 'Widget' }],
    'Widget shop/bad (request.objects[0]) cannot be converted: kind Widget is none of ballast.dev.',
  ],
  [
    [migration('a'), { ...bad, apiVersion: 'ballast.dev/v9' }],
    'StorageMigration shop/bad (request.objects[1]) cannot be converted: ' +
      'apiVersion ballast.dev/v9 is unknown; ' +
      'ballast.dev/v1alpha1 and ballast.dev/v1beta1 are converted.',
  ],
  [[{ ...bad, kind: 7 }], 'shop/bad (request.objects[0]) cannot be converted: kind of type number'],
  [[{ ...bad, kind: 'constructor' }], 'kind constructor is none of'],
  [[migration('a'), 'text'], 'request.objects[1] is not an object.'],
  [[null], 'request.objects[0] is not an object.'],
  [[[]], 'request.objects[0] is not an object.'],
  [
    [{ ...bad, metadata: 'none' }],
    'StorageMigration (request.objects[0]) cannot be converted: metadata is not an object.',
  ],
  [
    [{ ...bad, metadata: { name: 'bad', annotations: [] } }],
    'StorageMigration bad (request.objects[0]) cannot be converted: metadata.annotations is not',
  ],
  [[{ ...bad, metadata: { annotations: { a: 1 } } }], 'metadata.annotations[a] is not text.'],
])('one that is at fault is named: %j', (objects, message) => {
  expect(messageOf(objects)).toContain(message);
});

test('an unknown version is refused by name, whoever the objects are', () => {
  expect(messageOf([migration('a')], 'ballast.dev/v2')).toBe(
    'request.desiredAPIVersion ballast.dev/v2 is unknown; ballast.dev/v1alpha1 and ' +
      'ballast.dev/v1beta1 are converted',
  );
});

test.each([
  [null, 'the body is not an object'],
  [{ ...TYPE, kind: 'Status' }, 'kind is not ConversionReview'],
  [
    { ...TYPE, apiVersion: 'apiextensions.k8s.io/v1beta1' },
    'apiVersion is not apiextensions.k8s.io/v1',
  ],
  [TYPE, 'request is not an object'],
  [{ ...TYPE, request: { desiredAPIVersion: BETA, objects: [] } }, 'request.uid is not a text'],
  [
    { ...TYPE, request: { uid: 'a', desiredAPIVersion: 1, objects: [] } },
    'request.desiredAPIVersion is not a text',
  ],
  [
    { ...TYPE, request: { uid: 'a', desiredAPIVersion: BETA, objects: {} } },
    'request.objects is not a list',
  ],
])('what is no review has no answer: %j', (body, why) => {
  expect(() => answerReview(body)).toThrow(why);
});
