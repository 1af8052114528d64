// The environment variable by which a function is told what a url of NATS cannot say: one name for
// all.
import type { Variable } from './config.ts';
import { text } from './parsers.ts';

export const NATS_SECRET_DIR: Variable<string | undefined> = {
  env: 'NATS_SECRET_DIR',
  meaning: 'where a Secret is mounted with ca.crt, tls.crt and tls.key, nats.creds or nkey',
  parse: text,
  fallback: undefined,
};
