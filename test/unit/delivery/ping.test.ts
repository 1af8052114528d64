// The events of ping sources, and when they come.
import { expect, test } from 'vitest';
import { pingEvent } from '../../../knative/try/local/delivery/ping.ts';
import type { PingWiring } from '../../../knative/try/local/manifests/wiring.ts';

const PING: PingWiring = {
  file: 'test',
  namespace: 'ns',
  name: 'sweep',
  schedule: '* * * * *',
  extensions: {},
  sink: { kind: 'uri', uri: 'http://127.0.0.1' },
};
const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

test('a tick without data says where it comes from and nothing else', () => {
  expect(pingEvent(PING, 'id-1', NOW_MS)).toEqual({
    attributes: {
      specversion: '1.0',
      type: 'dev.knative.sources.ping',
      source: '/apis/v1/namespaces/ns/pingsources/sweep',
      id: 'id-1',
      time: '2026-01-02T03:04:05.000Z',
    },
    data: Buffer.alloc(0),
  });
});

test('a tick carries the data, its content type and the extensions of its manifest', () => {
  const ping = { ...PING, contentType: 'application/json', extensions: { ballastfunction: 'm' } };
  const { attributes, data } = pingEvent({ ...ping, data: { text: '{"a":1}' } }, '1', NOW_MS);
  expect(attributes).toMatchObject({ datacontenttype: 'application/json', ballastfunction: 'm' });
  expect(data.toString()).toBe('{"a":1}');
});

test('data in base64 is sent as the bytes that it stands for', () => {
  const { data } = pingEvent({ ...PING, data: { base64: 'AP+A' } }, '1', NOW_MS);
  expect(data).toEqual(Buffer.from([0, 255, 128]));
});
