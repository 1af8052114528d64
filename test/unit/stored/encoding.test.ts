// How a value is encoded and in which version, told from its first bytes or, where these do not
// tell, from all of it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodingOf } from '../../../shared/stored/encoding.ts';
import { topOfJson } from '../../../shared/stored/json.ts';

const of = (value: string | Buffer, headBytes = 512) => {
  const whole = Buffer.from(value);
  return encodingOf(whole.subarray(0, headBytes), () => whole);
};
const fieldVersions: readonly string[] = [];
const widget = {
  encoding: 'json',
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  fieldVersions,
};

function isTaken(text: string): boolean {
  try {
    topOfJson(Buffer.from(text));
    return true;
  } catch {
    return false;
  }
}

function isParsed(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

describe('JSON', () => {
  test.each([
    ['apiVersion first', '{"apiVersion":"example.com/v1","kind":"Widget","spec":{}}'],
    ['kind first', '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{}}\n'],
    ['nothing else', '{"kind":"Widget","apiVersion":"example.com/v1"}'],
    ['whitespace', '\n {\t"apiVersion" : "example.com/v1" ,\r\n "kind": "Widget" }'],
    [
      'other fields first',
      '{"a":{"kind":"No"},"kind":"Widget","b":[],"apiVersion":"example.com/v1"}',
    ],
    ['escapes', '{"\\u0061piVersion":"example.com\\/v1","kind":"Widg\\u0065t"}'],
  ])('with %s', (_, text) => {
    expect(of(text)).toEqual(widget);
  });

  test('is read to its end where its beginning does not tell', () => {
    const text = `{"a":"${'x'.repeat(600)}","kind":"Widget","apiVersion":"example.com/v1"}`;
    expect(of(text)).toEqual(widget);
  });

  test.each([
    ['{"kind":"Widget"}', 'without apiVersion and kind'],
    ['{"kind":"Widget","apiVersion":', 'cannot be read to its end'],
    ['{"apiVersion":"has space/v1","kind":"Widget"}', 'a type that cannot be one'],
    ['{"apiVersion":"v1","kind":""}', 'a type that cannot be one'],
    ['{}', 'without apiVersion and kind'],
  ])('that is %s is unreadable', (text, why) => {
    expect(of(text)).toMatchObject({ encoding: 'unreadable', why: expect.stringContaining(why) });
  });

  test('is taken exactly where JSON.parse takes it, whatever a letter of it is', () => {
    const letters = '{}[]",:\\ \n\t\0ue+-.0129Eatrlfnsé ';
    const change = fc.record({
      at: fc.nat(),
      of: fc.constantFrom('cut', 'put', 'take', 'double'),
      letter: fc.constantFrom(...letters.split('')),
    });
    const property = fc.property(fc.object(), fc.array(change, { maxLength: 3 }), (rest, all) => {
      let text = JSON.stringify({ rest, list: [1.5e-7, -0, true, null, '\u2028\\"', {}, []] });
      for (const { at, of: kind, letter } of all) {
        const place = at % (text.length + 1);
        const behind = text.slice(place + (kind === 'take' ? 1 : 0));
        const between = { cut: '', take: '', put: letter, double: text.slice(place, place + 5) };
        text = text.slice(0, place) + between[kind] + (kind === 'cut' ? '' : behind);
      }
      expect([text, isTaken(text)]).toEqual([text, isParsed(text)]);
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('that names more versions in its managedFields than a kind ever had is none', () => {
    const named = (count: number): string => {
      const entries = Array.from({ length: count }, (_, index) => `{"apiVersion":"a/v${index}"}`);
      return `{"metadata":{"managedFields":[${entries.join(',')}]},${ofWidget}}`;
    };
    const ofWidget = '"apiVersion":"example.com/v1","kind":"Widget"';
    expect(of(named(100))).toMatchObject({ encoding: 'json' });
    // Half a megabyte of them took sixteen seconds.
    expect(of(named(20_000))).toMatchObject({
      encoding: 'unreadable',
      why: expect.stringContaining('more than 100 versions'),
    });
  });

  test('names the versions in its managedFields, each once', () => {
    const entry = (apiVersion: unknown) => ({ manager: 'm', apiVersion, fieldsV1: { a: {} } });
    const managedFields = [entry('a/v1'), entry('a/v2'), entry('a/v1'), entry(1), 'x'];
    const type = { apiVersion: 'example.com/v1', kind: 'Widget' };
    const deeper = { spec: { metadata: { managedFields: [entry('a/v3')] } } };
    const text = JSON.stringify({ metadata: { name: 'w', managedFields }, ...deeper, ...type });
    expect(of(text)).toMatchObject({ fieldVersions: ['a/v1', 'a/v2'] });
  });

  test('is told alike from a part of it as from all of it, whatever it holds', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const object = fc.record({ metadata: fc.object(), spec: fc.object(), status: fc.jsonValue() });
    const property = fc.property(object, word, fc.boolean(), (rest, kind, isFirst) => {
      const type = { apiVersion: 'example.com/v1', kind };
      const text = JSON.stringify(isFirst ? { ...type, ...rest } : { ...rest, ...type });
      expect(of(text, 100)).toEqual({ encoding: 'json', ...type, fieldVersions });
    });
    fc.assert(property);
  });
});

/** As the API server writes it: magic, then a runtime.Unknown with its TypeMeta. */
const protobuf = (apiVersion: string, kind: string): Buffer => {
  const field = (number: number, bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
  const type = Buffer.concat([field(1, Buffer.from(apiVersion)), field(2, Buffer.from(kind))]);
  const unknown = Buffer.concat([field(1, type), field(2, Buffer.from('raw'))]);
  return Buffer.concat([Buffer.from('k8s\0'), unknown]);
};

describe('protobuf', () => {
  test('tells its type', () => {
    const pod = { encoding: 'protobuf', apiVersion: 'v1', kind: 'Pod', fieldVersions };
    expect(of(protobuf('v1', 'Pod'))).toEqual(pod);
    expect(of(protobuf('apps/v1', 'Deployment'), 8)).toMatchObject({ apiVersion: 'apps/v1' });
  });

  test('that ends anywhere before its type does is unreadable', () => {
    const whole = protobuf('apps/v1', 'Deployment');
    const typeEnd = 4 + 2 + 2 + 'apps/v1'.length + 2 + 'Deployment'.length;
    for (let end = 4; end < typeEnd; end += 1) {
      expect(of(whole.subarray(0, end)).encoding, `${end} bytes`).toBe('unreadable');
    }
  });
});

describe('CBOR', () => {
  const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const text = (value: string, major: number): string =>
    (major + value.length).toString(16) + Buffer.from(value).toString('hex');

  test.each([
    ['byte strings', 0x40],
    ['text strings', 0x60],
  ])('with %s, its fields in any order', (_, major) => {
    const inside = `a2 ${text('n', major)} 1903e8 ${text('b', major)} 82 f5 f6`;
    const spec = `${text('spec', major)} ${inside}`;
    const type = [text('kind', major), text('Widget', major), text('apiVersion', major)].join('');
    const value = bytes(`d9d9f7 a3 ${spec} ${type} ${text('example.com/v1', major)}`);
    expect(of(value)).toEqual({ ...widget, encoding: 'cbor' });
    const indefinite = bytes(`d9d9f7 bf ${spec} ${type} ${text('example.com/v1', major)} ff`);
    expect(of(indefinite)).toEqual({ ...widget, encoding: 'cbor' });
  });

  test('that is cut off is unreadable', () => {
    expect(of(bytes(`d9d9f7 a2 ${text('kind', 0x40)}`)).encoding).toBe('unreadable');
    expect(of(bytes('d9d9f7')).encoding).toBe('unreadable');
  });

  test('never fails in another way, whatever follows its tag', () => {
    const property = fc.property(fc.uint8Array({ maxLength: 60 }), (rest) => {
      const value = Buffer.concat([bytes('d9d9f7'), rest]);
      expect(['cbor', 'unreadable']).toContain(of(value).encoding);
    });
    fc.assert(property);
  });
});

describe('encrypted values', () => {
  test.each([
    ['k8s:enc:aescbc:v1:key1:\u0001\u0002', 'aescbc:v1', 'key1'],
    ['k8s:enc:secretbox:v1:key-2026:{"apiVersion":"v1"', 'secretbox:v1', 'key-2026'],
    ['k8s:enc:kms:v1:vault:xyz', 'kms:v1', 'vault'],
    ['k8s:enc:kms:v2:cloud-kms:xyz', 'kms:v2', 'cloud-kms'],
  ])('%j name provider and key', (value, provider, keyName) => {
    expect(of(value)).toEqual({ encoding: 'encrypted', provider, keyName });
  });

  test('without a key are unreadable', () => {
    expect(of('k8s:enc:aescbc:').encoding).toBe('unreadable');
  });
});

test('anything else is unreadable, and says so', () => {
  for (const value of ['', 'hello', '12', '[]', '\0\0', 'k8s', 'apiVersion: v1']) {
    expect(of(value).encoding).toBe('unreadable');
  }
});
