// Reading events: what the SDK was measured to get wrong, and that both modes give one and the
// same event.
import { CloudEvent, HTTP } from 'cloudevents';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../shared/errors.ts';
import { encodeHeaderValue } from '../../../shared/function/percent.ts';
import { readBinary, readEvent, readStructured, required } from './read-event.ts';

describe('the five JSON oddities of the SDK', () => {
  it.each([
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'Application/JSON',
    'application/vnd.kubernetes+json',
    'application/json; profile="a;b"',
  ])('reads JSON data whose content type is %s', (contentType) => {
    expect(readBinary(contentType, '{"a":1}').data).toEqual({ a: 1 });
  });

  it('reads a structured event whose content type has a charset without a blank', () => {
    expect(readStructured({ data: 1 }, 'application/cloudevents+json;charset=utf-8').data).toBe(1);
  });

  it.each([
    ['42', 42],
    ['true', true],
    ['null', null],
    ['"x"', 'x'],
    [' \n{"a":1}', { a: 1 }],
  ])('reads the JSON body %j as the value it is', (body, value) => {
    expect(readBinary('application/json', body).data).toEqual(value);
  });

  it.each([0, false, '', null])('keeps structured data that is %j', (value) => {
    expect(readStructured({ data: value }).data).toBe(value);
  });

  it('decodes data_base64 to bytes', () => {
    const event = readStructured({ data_base64: 'AP8=', datacontenttype: 'application/cbor' });
    expect(event.data).toEqual(Buffer.from([0, 255]));
  });
});

describe('time', () => {
  it('leaves an absent time absent', () => {
    expect(readEvent(required).time).toBeUndefined();
  });

  it('keeps the nanoseconds that Go sends', () => {
    const time = '2026-11-21T10:00:03.123456789Z';
    expect(readEvent({ ...required, 'ce-time': time }).time).toBe(time);
  });
});

describe('data', () => {
  it('is absent when the body is empty, whatever the content type', () => {
    expect('data' in readBinary('application/json', '')).toBe(false);
  });

  it('is text for text and bytes for the rest', () => {
    expect(readBinary('text/plain', 'a').data).toBe('a');
    expect(readBinary('application/octet-stream', 'a').data).toEqual(Buffer.from('a'));
  });

  it('ignores a byte order mark before JSON', () => {
    expect(readBinary('application/json', '\uFEFF{}').data).toEqual({});
  });

  it('parses JSON that came as base64, as binary mode would', () => {
    const base64 = Buffer.from('{"a":1}').toString('base64');
    const event = readStructured({ data_base64: base64, datacontenttype: 'application/json' });
    expect(event.data).toEqual({ a: 1 });
  });

  it('keeps keys of Object.prototype as data and pollutes nothing', () => {
    const event = readBinary('application/json', '{"__proto__":{"polluted":true}}');
    expect(Object.hasOwn(event.data as object, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;

describe('attributes', () => {
  it('reads an extension called constructor like any other', () => {
    expect(readEvent({ ...required, 'ce-constructor': 'x' })['constructor']).toBe('x');
  });

  it('takes the empty namespace that a cluster-scoped object has', () => {
    expect(readEvent({ ...required, 'ce-namespace': '' })['namespace']).toBe('');
  });

  it('keeps a source that is only a URI before it is decoded, as Go sends it', () => {
    expect(readEvent({ ...required, 'ce-source': '/a%20b' }).source).toBe('/a%20b');
  });

  it('unquotes and decodes header values once', () => {
    expect(readEvent({ ...required, 'ce-subject': '"a \\"b\\" %2541"' }).subject).toBe('a "b" %41');
  });

  it('reads null in structured mode as absent, and numbers and booleans as they are', () => {
    const event = readStructured({ subject: null, sequence: 7, flagged: true });
    expect('subject' in event).toBe(false);
    expect([event['sequence'], event['flagged']]).toEqual([7, true]);
  });

  it('gives back whatever text was percent-encoded', () => {
    // Characters of all planes, and not fast-check's own unit of a million, which takes seconds.
    const character = fc
      .oneof(fc.nat(0x2ff), fc.nat(0xffff), fc.nat(0x10ffff))
      .map((code) =>
        FORBIDDEN.test(String.fromCodePoint(code)) ? 'a' : String.fromCodePoint(code),
      );
    const text = fc.string({ unit: character });
    fc.assert(
      fc.property(text, (value) => {
        const event = readEvent({ ...required, 'ce-ext': encodeHeaderValue(value) });
        expect(event['ext']).toBe(value);
      }),
    );
  });
});

function outcomeOf(read: () => unknown): { readonly isRead: boolean; readonly field?: string } {
  try {
    read();
    return { isRead: true };
  } catch (error) {
    return { isRead: false, ...(error instanceof Failure ? { field: error.field ?? '' } : {}) };
  }
}

describe('both modes', () => {
  it('read the same event from what the SDK sends', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.stringMatching(/^[a-z/]{1,20}$/), (data, subject) => {
        // The SDK cannot write some data in binary mode: what is not an object goes out as it is.
        fc.pre(typeof data === 'object' && data !== null);
        const event = new CloudEvent({ type: 'dev.ballast.test', source: '/tests', subject, data });
        const [binary, structured] = [HTTP.binary(event), HTTP.structured(event)].map(
          ({ headers, body }) => readEvent(headers as Record<string, string>, body as string),
        );
        expect({ ...structured, datacontenttype: binary?.datacontenttype }).toEqual(binary);
        expect(binary?.data).toEqual(JSON.parse(JSON.stringify(data)));
      }),
    );
  });

  it('never throw anything but a Failure with a field', () => {
    const header = fc.tuple(
      fc.stringMatching(/^ce-[ -~]{0,8}$/),
      fc.string({ unit: 'binary-ascii' }),
    );
    const type = fc.constantFrom('application/json', 'application/cloudevents+json', 'text/x', '');
    fc.assert(
      fc.property(fc.array(header), type, fc.uint8Array(), (headers, contentType, body) => {
        const all = { ...required, ...Object.fromEntries(headers), 'content-type': contentType };
        const outcome = outcomeOf(() => readEvent(all, Buffer.from(body)));
        expect(outcome).toMatchObject({ [outcome.isRead ? 'isRead' : 'field']: expect.anything() });
      }),
      { numRuns: 1_000 },
    );
  });
});
