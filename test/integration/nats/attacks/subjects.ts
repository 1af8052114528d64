// Everything that can be said to a NATS with JetStream about a feed, and what of it a list of
// rights lets pass.
import { READER_API, STREAM_API } from '../../../../shared/nats/rights.ts';

/** The requests about a stream in JetStream's API of 2.15; `c` is a consumer. */
const ABOUT_STREAM = (
  'STREAM.CREATE STREAM.UPDATE STREAM.INFO STREAM.DELETE STREAM.PURGE STREAM.SNAPSHOT ' +
  'STREAM.RESTORE STREAM.MSG.DELETE STREAM.MSG.GET STREAM.PEER.REMOVE STREAM.LEADER.STEPDOWN ' +
  'CONSUMER.CREATE CONSUMER.NAMES CONSUMER.LIST DIRECT.GET'
).split(' ');
const ABOUT_CONSUMER = (
  'CONSUMER.CREATE CONSUMER.DURABLE.CREATE CONSUMER.INFO CONSUMER.DELETE CONSUMER.PAUSE ' +
  'CONSUMER.RESET CONSUMER.UNPIN CONSUMER.LEADER.STEPDOWN CONSUMER.MSG.NEXT'
).split(' ');
const ABOUT_ALL = (
  'INFO STREAM.NAMES STREAM.LIST META.LEADER.STEPDOWN SERVER.REMOVE ACCOUNT.PURGE.FEEDS ' +
  'ACCOUNT.STREAM.MOVE.FEEDS.ballast-f'
).split(' ');

/** Stored subjects of a feed: two nodes, what all share, what only the whole cluster shows. */
export const PLACES = [
  'node.n1.pods.web.a',
  'node.n2.pods.web.a',
  'all._.nodes._.n1',
  'cluster._.pods.bank.a',
  'all._.feed',
  'all._.floor',
  'node.n2.checkpoint',
];
const FILTERS = (
  '> node.> node.n1.> node.n2.> node.*.> all._.> cluster._.> *.*.*.web.* *.*.*.bank.* *.*.*._.* ' +
  'namespace.web.> namespace.bank.>'
).split(' ');

export function requestsAbout(feed: string): readonly string[] {
  const stream = `ballast-${feed}`;
  const stored = `ballast.${feed}`;
  return [STREAM_API, READER_API].flatMap((api) => [
    ...ABOUT_ALL.map((verb) => `${api}.${verb}`),
    ...ABOUT_STREAM.map((verb) => `${api}.${verb}.${stream}`),
    ...ABOUT_CONSUMER.map((verb) => `${api}.${verb}.${stream}.c`),
    ...PLACES.map((place) => `${api}.DIRECT.GET.${stream}.${stored}.${place}`),
    ...FILTERS.map((filter) => `${api}.CONSUMER.CREATE.${stream}.c.${stored}.${filter}`),
  ]);
}

export function messagesAbout(feed: string): readonly string[] {
  const stream = `ballast-${feed}`;
  return [
    ...PLACES.flatMap((place) => [`ballast.${feed}.${place}`, `ballast-live.${feed}.${place}`]),
    `$JS.ACK.${stream}.c.1.1.1.1.0`,
    `$JS.FC.${stream}.c.x`,
    '$JS.EVENT.ADVISORY.API',
    ...['SERVER.PING', 'SERVER.PING.JSZ', 'ACCOUNT.FEEDS.JSZ', 'USER.INFO'].map(
      (verb) => `$SYS.REQ.${verb}`,
    ),
    '_R_.x',
    ...['metadata', 'n1', 'n2', 'all', 'web'].map((user) => `_INBOX.${user}.x`),
    '_INBOX.x',
  ];
}

export function subscriptionsTo(feed: string): readonly string[] {
  const live = [...FILTERS, ...PLACES].map((filter) => `ballast-live.${feed}.${filter}`);
  const inboxes = ['metadata', 'n1', 'n2', 'all', 'web'].map((user) => `_INBOX.${user}.>`);
  const wide = ['>', '*.>', '$SYS.>', '$JS.>', '_INBOX.>', '_R_.>', 'ballast-api.>'];
  return [...live, ...inboxes, ...wide, `ballast.${feed}.>`, `$JS.API.>`, '$JS.EVENT.>'];
}

/** Whether every subject that `asked` stands for is one of those that `allowed` stands for. */
export function lets(allowed: readonly string[], wanted: string): boolean {
  return allowed.some((pattern) => covers(pattern.split('.'), wanted.split('.')));
}

function covers(
  [first, ...rest]: readonly string[],
  [wanted, ...more]: readonly string[],
): boolean {
  if (first === '>') return wanted !== undefined;
  if (first === undefined || wanted === undefined) return first === wanted;
  if (first !== '*' && first !== wanted) return false;
  return wanted !== '>' && covers(rest, more);
}
