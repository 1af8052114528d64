// What the API server says at a path that is no resource, as a function hands it to its runtime.
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
