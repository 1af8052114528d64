// A stream that a file of a lane left would be taken for one of the next file's own.
import { connect } from 'nats';
import { expect, test } from 'vitest';
import { loginOf } from '../../builders/nats-login.ts';
import { removeStreams } from '../../lanes/nats-state.ts';
import { sharedPlane } from '../../lanes/shared-plane.ts';

test('streams are gone, however many there were', async () => {
  const { url } = sharedPlane().part('nats-server');
  const nats = await connect(loginOf(url));
  const { streams } = await nats.jetstreamManager();
  for (const name of ['one', 'other', 'third']) await streams.add({ name, subjects: [name] });
  await removeStreams(url);
  expect(await streams.list().next()).toEqual([]);
  await nats.close();
});
