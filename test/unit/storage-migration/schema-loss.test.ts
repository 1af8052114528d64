// Which fields a schema has no place for: between two schemas, and of an object.
import { expect, test } from 'vitest';
import {
  fieldsWithout,
  isAccepted,
  lostFields,
} from '../../../functions/storage-migration/schema-loss.ts';

type Schema = NonNullable<Parameters<typeof lostFields>[0]>;

const TEXT: Schema = {};
const ANY = { 'x-kubernetes-preserve-unknown-fields': true } as const;
const map = (additionalProperties: Schema | boolean): Schema => ({
  additionalProperties,
});
const list = (items: Schema): Schema => ({ items });
const fields = (...names: readonly string[]): Schema => ({
  properties: Object.fromEntries(names.map((name) => [name, TEXT])),
});
/** An object whose `spec` is such. */
const spec = (inner: Schema): Schema => ({ properties: { spec: inner } });

type Row = readonly [
  title: string,
  before: Schema,
  after: Schema | undefined,
  lost: readonly string[],
  object: unknown,
  ofObject: readonly string[],
];

const kept = fields('a');

const ROWS: readonly Row[] = [
  ['the same', spec(fields('a', 'b')), spec(fields('b', 'a')), [], { spec: { a: 1, b: 2 } }, []],
  [
    'a field',
    spec(fields('a', 'b')),
    spec(kept),
    ['.spec.b'],
    { spec: { a: 1, b: 2 } },
    ['.spec.b'],
  ],
  [
    'a field that the object has not',
    spec(fields('a', 'b')),
    spec(kept),
    ['.spec.b'],
    { spec: { a: 1 } },
    [],
  ],
  ['all of it', spec(kept), undefined, ['.spec'], { spec: { a: 1 } }, ['.spec']],
  [
    'what is always kept',
    fields('apiVersion', 'kind', 'metadata'),
    fields('spec'),
    [],
    { kind: 'A', metadata: { b: 1 } },
    [],
  ],
  [
    'metadata that is none',
    spec(fields('metadata')),
    spec(kept),
    ['.spec.metadata'],
    { spec: { metadata: {} } },
    ['.spec.metadata'],
  ],
  [
    'of the items of a list, each once',
    spec(list(fields('a', 'b'))),
    spec(list(kept)),
    ['.spec[].b'],
    { spec: [{ a: 1, b: 1 }, { b: 2 }] },
    ['.spec[].b'],
  ],
  [
    'of lists of lists',
    list(list(fields('b'))),
    list(list(kept)),
    ['[][].b'],
    [[{ b: 1 }]],
    ['[][].b'],
  ],
  ['any name', spec(map(true)), spec(kept), ['.spec.*'], { spec: { a: 1, z: 1 } }, ['.spec.z']],
  ['a name that has a place', spec(map(true)), spec(kept), ['.spec.*'], { spec: { a: 1 } }, []],
  ['names that may be any', spec(kept), spec(map(true)), [], { spec: { z: { y: 1 } } }, []],
  [
    'names that may be none',
    spec(map(TEXT)),
    spec(map(false)),
    ['.spec.*'],
    { spec: { z: 1 } },
    ['.spec.z'],
  ],
  [
    'of what any name holds',
    spec(map(fields('a', 'b'))),
    spec(map(kept)),
    ['.spec.*.b'],
    { spec: { z: { a: 1, b: 1 } } },
    ['.spec.z.b'],
  ],
  [
    'unknown fields that were kept',
    spec(ANY),
    spec(kept),
    ['.spec.*'],
    { spec: { a: 1, z: 1 } },
    ['.spec.z'],
  ],
  ['unknown fields, kept', spec(fields('a', 'b')), spec(ANY), [], { spec: { b: { c: 1 } } }, []],
  [
    'below what keeps unknown fields, what it names',
    spec({ properties: { part: fields('a', 'b') } }),
    { ...ANY, properties: { spec: { ...ANY, properties: { part: kept } } } },
    ['.spec.part.b'],
    { spec: { other: 1, part: { a: 1, b: 1 } } },
    ['.spec.part.b'],
  ],
  [
    'of an object within the object',
    spec(fields('kind', 'metadata', 'b')),
    spec({ 'x-kubernetes-embedded-resource': true, properties: kept.properties ?? {} }),
    ['.spec.b'],
    { spec: { kind: 'A', metadata: { name: 'x' }, b: 1 } },
    ['.spec.b'],
  ],
];

test.each(ROWS)('what is lost: %s', (_what, before, after, lost, object, ofObject) => {
  expect(lostFields(before, after)).toEqual(lost);
  expect(fieldsWithout(object, after)).toEqual(ofObject);
});

test.each<[string, string, boolean]>([
  ['.spec.b', '.spec.b', true],
  ['.spec.b', '.spec.c', false],
  ['.spec.b', '.spec', false],
  ['.spec.z.b', '.spec.*.b', true],
  ['.spec.*.b', '.spec.*.b', true],
  ['.spec.b', '.spec.*', true],
  ['.spec.labels.example.com/tier', '.spec.labels.*', true],
  ['.spec', '.spec.*', false],
])('%s is accepted by %s: %s', (path, said, isSo) => {
  expect(isAccepted(path, ['.other', said])).toBe(isSo);
});
