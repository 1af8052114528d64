// Reads JSON from a path of the API server that is no resource, for the runtime of a function.
import type { KubeClient } from './client.ts';

/** Keys have a type of their own, and the API server offers them as nothing else. */
const JSON_TYPES = 'application/json, application/jwk-set+json';

export async function readJson(
  { kube }: { readonly kube: KubeClient },
  path: string,
  signal: AbortSignal,
): Promise<unknown> {
  const { text } = await kube.raw({
    method: 'GET',
    path,
    accept: JSON_TYPES,
    repeat: 'always',
    signal,
  });
  return JSON.parse(text);
}
