// Rights on a feed in NATS; no other file defines them. Streams live in an account that only the
// function enters. Readers have another account, which imports just the subjects that reading
// needs: in an account that has the stream, a client that may ask for messages may have them sent
// to any subject of it, `$JS.API.STREAM.DELETE...` included. Pure.
import {
  FLOOR_SUBJECT,
  MARKER_SUBJECT,
  encodeToken,
  livePrefix,
  storedPrefix,
  streamName,
} from '../feed/subjects.ts';
import { type Scope, filtersOf } from './replica/scope.ts';

/** The prefix of JetStream's API in the account that has the streams. */
export const STREAM_API = '$JS.API';
/**
 * The prefix for readers. Under its own name the server answers in every account, and says
 * "JetStream not enabled for account" before the import can answer.
 */
export const READER_API = 'ballast-api';

/** In place of a feed's name: every feed of an account that holds nothing but feeds. */
export const ANY_FEED = '*';

export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

interface Service {
  readonly service: string;
  /** One request is answered by many messages. */
  readonly isMany?: boolean;
}

/** Where the answers to a user's requests arrive: nobody else may listen there. */
export const inboxOf = (user: string): string => `_INBOX.${encodeToken(user)}`;

/** In the readers' account; `api` is another where a reader has to be in the stream's own. */
export function readerRights(
  feed: string,
  scope: Scope,
  inbox: string,
  api: string = READER_API,
): Permissions {
  const filters = filtersOf(scope);
  return {
    publish: [
      ...directGets(feed, api),
      ...filters.map((filter) => consumerCreate(feed, filter, api)),
      consumerNext(feed, api),
    ],
    subscribe: [...filters.map((filter) => `${livePrefix(feed)}.${filter}`), `${inbox}.>`],
  };
}

/** In the account of the stream: of the function, and of nobody who only reads. */
export function writerRights(feed: string, inbox: string): Permissions {
  const stream = streamOf(feed);
  return {
    publish: [
      `${storedPrefix(feed)}.>`,
      `${STREAM_API}.STREAM.CREATE.${stream}`,
      `${STREAM_API}.STREAM.UPDATE.${stream}`,
      `${STREAM_API}.STREAM.INFO.${stream}`,
      `${STREAM_API}.DIRECT.GET.${stream}`,
      `${STREAM_API}.DIRECT.GET.${stream}.>`,
    ],
    subscribe: [`${inbox}.>`],
  };
}

/** Exports of the stream's account to these accounts, as nats-server's configuration has them. */
export function exportsOf(feed: string, accounts: readonly string[]) {
  return [
    ...servicesOf(feed).map(({ service, isMany }) => ({
      service,
      ...(isMany === true ? { response_type: 'stream' } : {}),
      accounts,
    })),
    { stream: liveSubject(feed), accounts },
  ];
}

/** Imports of the readers' account from the stream's. */
export function importsOf(feed: string, account: string) {
  return [
    ...servicesOf(feed).map(({ service: subject }) => ({
      service: { account, subject },
      to: `${READER_API}${subject.slice(STREAM_API.length)}`,
    })),
    { stream: { account, subject: liveSubject(feed) } },
  ];
}

const servicesOf = (feed: string): readonly Service[] => [
  ...directGets(feed, STREAM_API).map((service) => ({ service })),
  { service: consumerCreate(feed, '>', STREAM_API) },
  { service: consumerNext(feed, STREAM_API), isMany: true },
];

const liveSubject = (feed: string): string => `${livePrefix(feed)}.>`;

const streamOf = (feed: string): string => (feed === ANY_FEED ? ANY_FEED : streamName(feed));

const directGets = (feed: string, api: string): readonly string[] =>
  [MARKER_SUBJECT, FLOOR_SUBJECT].map(
    (subject) => `${api}.DIRECT.GET.${streamOf(feed)}.${storedPrefix(feed)}.${subject}`,
  );

/** The server refuses a body whose filter differs from that in the subject. */
const consumerCreate = (feed: string, filter: string, api: string): string =>
  `${api}.CONSUMER.CREATE.${streamOf(feed)}.*.${storedPrefix(feed)}.${filter}`;

const consumerNext = (feed: string, api: string): string =>
  `${api}.CONSUMER.MSG.NEXT.${streamOf(feed)}.*`;
