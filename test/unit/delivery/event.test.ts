// Events on the wire: both modes say the same, and nothing is lost between them.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../../builders/any-text.ts';
import {
  type Event,
  type EventMessage,
  InvalidEvent,
  readEvent,
  writeBinary,
  writeStructured,
} from '../../../knative/try/local/delivery/event.ts';

const read = ({ headers, body }: EventMessage): Event | undefined =>
  readEvent(Object.entries(headers).flat(), body);
const structured = (body: string): Event | undefined =>
  readEvent(['Content-Type', 'application/cloudevents+json'], Buffer.from(body));

const plain = fc.string({ unit: 'grapheme-ascii', minLength: 1 });
const required = {
  specversion: fc.constant('1.0'),
  id: plain,
  type: plain,
  source: fc.constant('/s'),
};
const event: fc.Arbitrary<Event> = fc
  .record({
    required: fc.record(required),
    extensions: fc.dictionary(fc.stringMatching(/^x[a-z0-9]{0,9}$/), plain),
    content: fc.oneof(
      fc.json().map((text) => ({ type: 'application/json', data: Buffer.from(text) })),
      anyText(1).map((text) => ({ type: 'text/plain', data: Buffer.from(text) })),
      fc
        .uint8Array({ minLength: 1 })
        .map((bytes) => ({ type: 'image/png', data: Buffer.from(bytes) })),
    ),
  })
  .map(({ required: base, extensions, content }) => ({
    attributes: { ...extensions, ...base, datacontenttype: content.type },
    data: content.data,
  }));

test('what is written in binary mode reads the same', () => {
  fc.assert(
    fc.property(event, (sent) => {
      expect(read(writeBinary(sent))).toEqual(sent);
    }),
  );
});

test('what is written in structured mode says the same', () => {
  fc.assert(
    fc.property(event, (sent) => {
      const got = read(writeStructured(sent));
      expect(got?.attributes).toEqual(sent.attributes);
      const isJson = sent.attributes['datacontenttype'] === 'application/json';
      const value = (data?: Buffer): unknown => (isJson ? JSON.parse(String(data)) : data);
      expect(value(got?.data)).toEqual(value(sent.data));
    }),
  );
});

describe('reading', () => {
  test('a message that announces no event is none', () => {
    expect(readEvent(['Content-Type', 'application/json'], Buffer.from('{}'))).toBeUndefined();
    expect(readEvent(['Ce-Type', 'a'], Buffer.alloc(0))).toBeUndefined();
  });

  test('an empty subject is no subject, and an empty extension is one', () => {
    const base = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 's', 'ce-type': 't' };
    const headers = { ...base, 'ce-subject': '', 'ce-namespace': '' };
    const attributes = read({ headers, body: Buffer.alloc(0) })?.attributes;
    expect(attributes).not.toHaveProperty('subject');
    expect(attributes).toMatchObject({ namespace: '' });
  });

  test('a header in UTF-8 is text, and an escape in one stays an escape', () => {
    const base = ['ce-specversion', '1.0', 'ce-id', '1', 'ce-source', 's', 'ce-type', 't'];
    const bytes = Buffer.from('gr\u00fcn%20').toString('latin1');
    const { name } = readEvent([...base, 'ce-name', bytes], Buffer.alloc(0))?.attributes ?? {};
    expect(name).toBe('gr\u00fcn%20');
  });

  test('a batch is refused as what it is', () => {
    const headers = ['content-type', 'application/cloudevents-batch+json'];
    expect(() => readEvent(headers, Buffer.from('[]'))).toThrow('batches');
  });

  const base = '"specversion":"1.0","id":"1","source":"s","type":"t"';

  test('JSON data without a content type is JSON', () => {
    expect(structured(`{${base},"data":"text"}`)).toMatchObject({
      attributes: { datacontenttype: 'application/json' },
      data: Buffer.from('"text"'),
    });
  });

  test('numbers and booleans become text, and null is absent', () => {
    const attributes = structured(`{${base},"a":1,"b":true,"c":null}`)?.attributes;
    expect(attributes).toMatchObject({ a: '1', b: 'true' });
    expect(attributes).not.toHaveProperty('c');
  });

  test.each([
    ['no JSON', '{'],
    ['no object', '7'],
    ['no type', '{"specversion":"1.0","id":"1","source":"s"}'],
    ['an attribute that is an object', `{${base},"a":{}}`],
    ['an attribute in capitals', `{${base},"aB":"x"}`],
    ['a source that is no URI', `{"specversion":"1.0","id":"1","source":"a b","type":"t"}`],
  ])('%s is an invalid event', (_name, body) => {
    expect(() => structured(body)).toThrow(InvalidEvent);
  });
});

test('a value that fits in no header is escaped, so that it cannot end one', () => {
  const attributes = { specversion: '1.0', id: '1', source: '/s', type: 't', name: 'grün\r\nx' };
  expect(writeBinary({ attributes, data: Buffer.alloc(0) }).headers['ce-name']).toBe(
    'gr%C3%BCn%0D%0Ax',
  );
});
