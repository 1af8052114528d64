// A process that looks at hostile clusters and a good one, all at once, then at the good one again,
// and says how often that was heard, and the most memory that it took.
import { natsStateOf } from '../../functions/nats-cluster/nats-state.ts';
import { openSystem } from '../../shared/nats/system.ts';
import { type NatsRequest, flood, startHostileNats } from './hostile-nats.ts';

const [, , hostiles, only] = process.argv;
const ME = { name: 'nats-0', id: 'ID', ver: '2.15.2' };
const login = { user: 'ballast-system', passwords: ['one'], name: 'test' };

/** Just as large as is read, of as many streams as fit. */
const streams = Array.from({ length: 45_000 }, (_, index) => ({
  name: `stream-${index}`,
  config: { num_replicas: 1, storage: 'file' },
  cluster: { leader: 'nats-0', replicas: [] },
}));
const stuffed = Buffer.from(
  JSON.stringify({
    server: ME,
    data: { account_details: [{ name: 'A', stream_detail: streams }] },
  }),
);
/** Each stream takes far more memory than it has bytes. */
const small = Array.from({ length: 20_000 }, (_, index) => `{"name":"${index}"}`).join();
const tail = Buffer.from(
  `"},"data":{"account_details":[{"name":"A","stream_detail":[${small}]}]}}`,
);
const wide = Buffer.from(`[${'{},'.repeat(2 << 20)}0]`);

/** One of them when its number is given, and in turn otherwise. */
const manners: readonly ((request: NatsRequest) => void)[] = [
  ({ announce, socket }) => {
    announce(7 << 20);
    flood(socket);
  },
  ({ answer }) => {
    for (let index = 0; index < 20; index += 1) answer(stuffed);
  },
  ({ answer }) => {
    for (let index = 0; index < 20; index += 1) answer(wide);
  },
  ({ announce, socket }) => {
    announce(999_999_999);
    flood(socket);
  },
  ({ command, announce, socket }) => {
    if (command !== 'JSZ') return;
    for (let index = 10; index < 42; index += 1) {
      const head = `{"server":{"id":"x","ver":"2.15.2","name":"other-${index}`;
      announce(head.length + tail.length);
      for (const part of [head, tail, '\r\n']) socket.write(part);
    }
  },
  ({ socket }) => {
    // Each asks for an answer, which nobody reads.
    socket.pause();
    flood(socket, Buffer.from('PING\r\n'.repeat(10_000)));
  },
];

async function observe(address: string): Promise<number> {
  const signal = AbortSignal.timeout(10_000);
  try {
    const system = await openSystem({ ...login, servers: [address] }, signal);
    try {
      const names = ['nats-0'];
      const told = await Promise.all([
        system.servers(names),
        system.jetStream(names),
        system.health(names),
      ]);
      natsStateOf(...told);
      return told[0].length;
    } finally {
      await system.close();
    }
  } catch {
    return 0;
  }
}

const hostile = await Promise.all(
  Array.from({ length: Number(hostiles) }, (_, index) => {
    const onRequest = manners[Number(only ?? index % manners.length)] ?? (() => undefined);
    return startHostileNats({ onRequest });
  }),
);
const good = await startHostileNats({
  onRequest: ({ answer }) => answer(JSON.stringify({ server: ME, data: { status: 'ok' } })),
});
const [during] = await Promise.all([good, ...hostile].map(({ address }) => observe(address)));
const after = await observe(good.address);
const peakMb = process.resourceUsage().maxRSS / 1_024;
process.stdout.write(JSON.stringify({ during, after, peakMb }));
await Promise.all([good, ...hostile].map((one) => one[Symbol.asyncDispose]()));
