// The environment variable by which a function is told of the API server: one name for all.
import type { Variable } from './config.ts';
import { text } from './parsers.ts';

export const KUBECONFIG: Variable<string | undefined> = {
  env: 'KUBECONFIG',
  meaning: 'how to reach the API server; inside a cluster the mounted service account says it',
  parse: text,
  fallback: undefined,
};
