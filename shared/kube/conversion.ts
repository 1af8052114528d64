// The conversion webhook of a CRD, asked as the API server asks it. What it answers is never
// written anywhere.
import { randomUUID } from 'node:crypto';
import { isRecord } from './json.ts';
import type { KubeObject } from './objects.ts';

/** `spec.conversion.webhook` of a CRD. */
export interface ConversionWebhook {
  readonly clientConfig: {
    readonly url?: string;
    readonly service?: {
      readonly namespace: string;
      readonly name: string;
      readonly path?: string;
      readonly port?: number;
    };
    /** PEM in base64; the roots of the system when absent. */
    readonly caBundle?: string;
  };
  readonly conversionReviewVersions: readonly string[];
}

/** One that hangs must not take the whole request with it. */
const TIMEOUT_MS = 5_000;

/** Undefined when it cannot be reached from here, or does not convert. */
export async function convertBy(
  webhook: ConversionWebhook,
  object: KubeObject,
  desiredAPIVersion: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const { clientConfig, conversionReviewVersions } = webhook;
  const url = urlOf(clientConfig);
  const apiVersion = `apiextensions.k8s.io/${conversionReviewVersions[0] ?? 'v1'}`;
  const review = {
    apiVersion,
    kind: 'ConversionReview',
    request: { uid: randomUUID(), desiredAPIVersion, objects: [object] },
  };
  const { Agent, request } = await import('./undici.ts');
  const ca = Buffer.from(clientConfig.caBundle ?? '', 'base64').toString();
  const dispatcher = new Agent({ connect: ca === '' ? {} : { ca } });
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(review),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      dispatcher,
    });
    return answer.statusCode === 200 ? convertedIn(await answer.body.json()) : undefined;
  } catch {
    // Only the API server has to reach it, and whether that can is asked otherwise.
    signal.throwIfAborted();
    return undefined;
  } finally {
    await dispatcher.destroy();
  }
}

function urlOf({ url, service }: ConversionWebhook['clientConfig']): string {
  if (service === undefined) return url ?? '';
  const { namespace, name, path = '', port = 443 } = service;
  return `https://${name}.${namespace}.svc:${port}/${path.replace(/^\//, '')}`;
}

function convertedIn(review: unknown): KubeObject | undefined {
  const response = isRecord(review) ? review['response'] : undefined;
  const objects = isRecord(response) ? response['convertedObjects'] : undefined;
  const [first] = Array.isArray(objects) ? objects : [];
  // Of a shape that only its author knows; it is compared, and no more.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return isRecord(first) ? (first as unknown as KubeObject) : undefined;
}
