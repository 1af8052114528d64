// P20: what the conversion of an object costs the webhook, one a review and 500, and what a list of
// 5,000 costs through it, against the conversion webhook of controller-runtime. The API server
// converts each object by itself when it reads etcd, so the list is 5,000 reviews.
import { cpuSeconds } from './cpu.ts';
import { ConversionPlace, OBJECTS } from './conversion/place.ts';
import { reviewOf, sendReviews } from './conversion/reviews.ts';
import { startOurs, startPeer, type Webhook } from './conversion/sides.ts';
import type { Bench, Sample } from './runner.ts';

const OURS = 'conversion';
const PEER = 'controller-runtime 0.24.1';
/** More than a second of CPU on the slower side: the kernel accounts in hundredths. */
const SINGLE = 5_000;
const MANY = 40;
const EACH = 500;
const MICROSECONDS = 1_000_000;

const figure = { ours: OURS, against: PEER, better: 'lower', limit: Infinity } as const;

export const bench: Bench = {
  id: 'P20',
  title: 'objects converted by a webhook, and a list of 5,000 through it',
  pairs: 5,
  figures: [
    { ...figure, name: 'cpuPerObject, one a review', unit: 'us', sample: 'single' },
    { ...figure, name: 'cpuPerObject, 500 a review', unit: 'us', sample: 'many' },
    { ...figure, name: 'cpuPerObject, listed with TLS', unit: 'us', sample: 'listed' },
    { ...figure, name: 'list of 5,000', unit: 'ms', sample: 'listMs' },
  ],
  open: async () => {
    const place = await ConversionPlace.start();
    const webhooks: Webhook[] = [];
    const close = async (): Promise<void> => {
      for (const webhook of webhooks) await webhook.end();
      await place.stop();
    };
    try {
      const ours = await startOurs(place);
      webhooks.push(ours);
      const peer = await startPeer();
      webhooks.push(peer);
      const side = (name: string, webhook: Webhook) => ({
        name,
        run: () => measure(place, webhook),
      });
      // The first run warms up both.
      await measure(place, ours);
      await measure(place, peer);
      return { sides: [side(OURS, ours), side(PEER, peer)], close };
    } catch (error) {
      await close();
      throw error;
    }
  },
};

async function measure(place: ConversionPlace, webhook: Webhook): Promise<Sample> {
  const { pid, port, clientConfig } = webhook;
  const single = await cpuPer(pid, SINGLE, () => sendReviews(port, reviewOf(1), SINGLE));
  const many = await cpuPer(pid, MANY * EACH, () => sendReviews(port, reviewOf(EACH), MANY));
  let listMs = 0;
  const listed = await cpuPer(pid, OBJECTS, async () => {
    listMs = await place.list(clientConfig, () => webhook.reviews());
  });
  return { single, many, listed, listMs };
}

async function cpuPer(pid: number, objects: number, work: () => Promise<void>): Promise<number> {
  const before = await cpuSeconds(pid);
  await work();
  return (((await cpuSeconds(pid)) - before) / objects) * MICROSECONDS;
}
