// The size limit of one message of NATS.
import { expect, test } from 'vitest';
import { fits } from '../../../shared/feed/message-size.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import { show } from '../../../shared/feed/projections/show.ts';
import { object, plan } from './objects.ts';

/** The default limit of a NATS server. */
const MAX_PAYLOAD_BYTES = 1_048_576;

test('a pod of a thousand containers with long names fits', () => {
  const long = (prefix: string, length: number, at: number): string =>
    `${prefix}-${at}-`.padEnd(length, 'x');
  const numbers = Array.from({ length: 1_000 }, (_, at) => at);
  const containers = numbers.map((at) => ({
    name: long('container', 63, at),
    image: long('registry.example/team/image', 120, at),
  }));
  const containerStatuses = containers.map(({ name }, at) => ({
    name,
    containerID: long('containerd://', 120, at),
    state: { waiting: { reason: 'ContainerCreating' } },
    ready: false,
    restartCount: 12_345,
  }));
  const labels = Object.fromEntries(
    numbers.slice(0, 50).map((at) => [`${long('example.com/', 253, at)}/${at}`, long('v', 63, at)]),
  );
  const pod = object('Pod', { labels }, { spec: { containers }, status: { containerStatuses } });
  const [shown] = show('pods', pod, plan);
  if (shown === undefined) throw new Error('a pod is shown');
  const data = encodeMessage(shown.message);
  expect(shown.message.containers).toHaveLength(1_000);
  expect(fits(data, MAX_PAYLOAD_BYTES)).toBe(true);
  // About 410 bytes a container: 2,500 would fit, more than etcd takes in one object.
  expect(data.byteLength).toBe(428_369);
});

test('headers count too: what fills the whole payload does not fit', () => {
  expect(fits(new Uint8Array(MAX_PAYLOAD_BYTES), MAX_PAYLOAD_BYTES)).toBe(false);
  expect(fits(new Uint8Array(MAX_PAYLOAD_BYTES - 4_096), MAX_PAYLOAD_BYTES)).toBe(true);
  expect(fits(new Uint8Array(10), 1_024)).toBe(false);
});
