// The environment variables of functions that speak with NATS, and of those that read a whole feed:
// one name and one meaning for all.
import type { Variable } from './config.ts';
import { text, url } from './parsers.ts';

export const NATS_SECRET_DIR: Variable<string | undefined> = {
  env: 'NATS_SECRET_DIR',
  meaning: 'where a Secret is mounted with ca.crt, tls.crt and tls.key, nats.creds or nkey',
  parse: text,
  fallback: undefined,
};

export interface FeedReader {
  readonly natsUrl: URL;
  readonly natsSecretDir: string | undefined;
  readonly feedName: string;
  readonly apiPrefix: string;
}

/** With the API that a reader has where nothing else is said. */
export const feedReader = (
  api: string,
): { readonly [Name in keyof FeedReader]: Variable<FeedReader[Name]> } => ({
  natsUrl: {
    env: 'NATS_URL',
    meaning: 'where NATS is',
    parse: url('nats', 'tls'),
    example: 'nats://localhost:4222',
  },
  natsSecretDir: NATS_SECRET_DIR,
  feedName: {
    env: 'FEED_NAME',
    meaning: 'the feed to read, as the metadata function names it',
    parse: feedName,
    fallback: 'cluster',
  },
  apiPrefix: {
    env: 'NATS_API_PREFIX',
    meaning: "what JetStream's API is called in the account of this user",
    parse: text,
    fallback: api,
  },
});

/** One token of a subject, and a name that a stream may have. */
function feedName(value: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(value)) return value;
  throw new Error('not a name of letters, digits, dashes and underscores');
}
