// What a reader takes for an answer when the server, or somebody who speaks in its place, says
// something else. Real TCP against a server that says whatever a test wants.
import { expect, test } from 'vitest';
import { Source } from '../../../shared/nats/replica/source.ts';
import { type Manners, startHostileNats } from '../../builders/hostile-nats.ts';

const soon = (): AbortSignal => AbortSignal.timeout(8_000);
const nobody = {
  onMessage: () => undefined,
  onForeign: () => undefined,
  onLost: () => undefined,
};

async function reading(onAsked: NonNullable<Manners['onAsked']>): Promise<unknown> {
  await using hostile = await startHostileNats({ onAsked });
  const url = `nats://${hostile.address}`;
  const source = new Source({ url, feed: 'f', filters: ['>'], name: 'test' }, nobody);
  try {
    await source.open(soon());
    const reader = await source.read('>', undefined, soon());
    return await reader.next(() => expect.unreachable('a message of nobody was taken'));
  } finally {
    await source.close();
  }
}

/** The name in the subject of a create. */
const nameIn = (what: string): string => what.split('.')[4] ?? '';

test.each<[string, (name: string) => object]>([
  ['no name', () => ({ num_pending: 0 })],
  ['the name of another', () => ({ name: 'other', num_pending: 0 })],
  ['no name, and messages', () => ({ num_pending: 1 })],
  ['its name, and not how much there is', (name) => ({ name })],
  ['its name, and nonsense', (name) => ({ name, num_pending: null })],
  ['its name, and less than nothing', (name) => ({ name, num_pending: -1 })],
])('an answer to a create with %s is not taken for an empty feed', async (_what, answerTo) => {
  const read = reading(({ what, answer }) => answer(JSON.stringify(answerTo(nameIn(what)))));
  await expect(read).rejects.toThrow('is of no consumer of this reader');
});

test('a message on the way of a page that says no sequence is not taken', async () => {
  const read = reading(({ what, answer }) => {
    const isCreate = what.includes('.CONSUMER.CREATE.');
    answer(isCreate ? JSON.stringify({ name: nameIn(what), num_pending: 1 }) : '{}');
  });
  await expect(read).rejects.toThrow('a message came that is of no page');
});
