// `/who`: the holders of an address at a time, as far back as the feed keeps history.
import type { Holder } from '../../shared/nats/replica/history.ts';
import { invalid } from './query.ts';
import { notFound } from './not-found.ts';
import { AT, IP } from './parameters.ts';
import type { QueryRoute } from './query-route.ts';
import { STRING, TIME, listOf, record } from './schema.ts';

/** Clocks of a cluster differ by less. */
const AHEAD_MAX_MS = 60_000;

export const WHO: QueryRoute = {
  method: 'GET',
  path: '/who',
  summary: 'who had an address at a time',
  required: [IP, AT],
  isSearch: true,
  answers: record({
    ip: STRING,
    at: TIME,
    reachesBackTo: { ...TIME, description: 'of what ended before, nothing is known' },
    holders: {
      ...listOf(
        record({
          kind: STRING,
          'namespace?': STRING,
          name: STRING,
          uid: STRING,
          'node?': STRING,
          'from?': { ...TIME, description: 'when it was created; it got the address soon after' },
          'to?': { ...TIME, description: 'absent when it still has it' },
        }),
      ),
      description: 'the likeliest first: pods on the network of their node share its address',
    },
  }),
  answer: (query, observation) => {
    const ip = query.get(IP) ?? '';
    const atMs = query.get(AT) ?? 0;
    if (atMs > observation.nowMs + AHEAD_MAX_MS) {
      throw invalid(AT.name, `The parameter ${AT.name} is a time that is yet to come.`);
    }
    const { catalog } = observation;
    const at = timeText(atMs);
    const reachesBackTo = timeText(observation.nowMs - catalog.historySeconds * 1_000);
    const holders = catalog.byIpAt(ip, atMs).map(shownHolder);
    if (holders.length > 0) return { body: { ip, at, reachesBackTo, holders } };
    const hint = `What ended before ${reachesBackTo} is forgotten.`;
    throw notFound({ subject: `holder of ${ip} at ${at}`, field: IP.name, hint }, observation);
  },
};

function shownHolder(holder: Holder): Readonly<Record<string, unknown>> {
  const { kind, namespace, name, uid, node, fromMs, toMs } = holder;
  return {
    kind,
    ...(namespace === '' ? {} : { namespace }),
    name,
    uid,
    ...(node === undefined ? {} : { node }),
    ...(fromMs === 0 ? {} : { from: timeText(fromMs) }),
    ...(toMs === undefined ? {} : { to: timeText(toMs) }),
  };
}

const timeText = (ms: number): string => new Date(ms).toISOString();
