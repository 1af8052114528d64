// Reads one object live, by what the role allows: a list of its name, which tells the version of an
// absence too, or else a GET.
import { isKubeError, type KubeError } from '../errors.ts';
import type { Held } from './held.ts';
import { keep } from './keep.ts';
import { isOf, type Kube, selection, type Target } from './target.ts';

/** With a `refusal`, the answer is that of a GET; an absence is then undefined. */
export type Live =
  | { readonly answer: Held; readonly refusal?: undefined }
  | { readonly answer: Held | undefined; readonly refusal: KubeError };

/** `refusal` is why it may not be listed, when that is known already. */
export async function readOne(
  kube: Kube,
  target: Target,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  refusal?: KubeError,
): Promise<Live> {
  let refused = refusal;
  try {
    if (refused === undefined) return { answer: await listOne(kube, target, options) };
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    refused = error;
  }
  try {
    return { answer: await getOne(kube, target, options), refusal: refused };
  } catch (error) {
    // The right to list is the one to ask for.
    throw isKubeError(error, 'KUBE_FORBIDDEN') ? refused : error;
  }
}

export async function listOne(
  kube: Kube,
  target: Target,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Held> {
  const list = await kube.list(target.ref, { ...selection(target), ...options });
  const found = list.items.find((item) => isOf(target, item));
  const object = found === undefined ? null : keep(found);
  return { object, version: list.metadata.resourceVersion };
}

async function getOne(
  kube: Kube,
  { ref, namespace, name }: Target,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Held | undefined> {
  const at = { name, ...(namespace === undefined ? {} : { namespace }) };
  const object = await kube.get(ref, at, options);
  if (object === null) return undefined;
  return { object: keep(object), version: object.metadata.resourceVersion };
}
