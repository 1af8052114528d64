// A validating admission webhook that refuses to let one object be updated, with whatever number
// and word of HTTP it was told to say; or lets whoever makes an object wait.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import {
  CURRENT,
  GROUP,
  NAMESPACE,
  until,
  type VersionedKind,
} from '../../builders/versioned-kind.ts';

export interface Refusal {
  readonly name: string;
  readonly code: number;
  readonly reason: string;
}

const WEBHOOKS = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
} as const;

interface Review {
  readonly request: { readonly uid: string; readonly name: string };
}

/** Returns when it is in force; what it answers ends that, and returns when it is not. */
export async function refuseAs(
  plane: PlaneAddress,
  kube: KubeClient,
  kind: VersionedKind,
  refusal: Refusal,
): Promise<() => Promise<void>> {
  const end = await serve(plane, kube, kind, 'UPDATE', async (review) => answer(review, refusal));
  const isRefused = () => isRefusedNow(kube, kind, refusal);
  await until(`updates of ${refusal.name} to be refused`, isRefused);
  return async () => {
    await end();
    await until(`updates of ${refusal.name} to be taken`, async () => !(await isRefused()));
  };
}

export interface Held {
  /** Resolves when the API server asks whether the object may be made. */
  readonly begun: Promise<void>;
  release: () => void;
  readonly end: () => Promise<void>;
}

/** The creation of this object waits until it is released, as behind a slow webhook. */
export async function holdCreation(
  plane: PlaneAddress,
  kube: KubeClient,
  kind: VersionedKind,
  name: string,
): Promise<Held> {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const isSeen = { any: false };
  const end = await serve(plane, kube, kind, 'CREATE', async (review) => {
    isSeen.any = true;
    if (review.request.name === name) {
      begun.resolve();
      await released.promise;
    }
    return answer(review);
  });
  await until('creations to be asked about', async () => {
    await kube.create(kind.ref(), kind.object(CURRENT, 'asked'), { dryRun: true });
    return isSeen.any;
  });
  return { begun: begun.promise, release: () => released.resolve(), end };
}

/** An answer ends it. */
async function serve(
  plane: PlaneAddress,
  kube: KubeClient,
  kind: VersionedKind,
  operation: string,
  judge: (review: Review) => Promise<object>,
): Promise<() => Promise<void>> {
  const [cert, key] = await Promise.all([
    readFile(plane.caPath),
    readFile(plane.caPath.replace(/\.crt$/, '.key')),
  ]);
  const server = createServer({ cert, key }, (request, response) => {
    void json(request).then(async (review) => {
      const body = JSON.stringify(await judge(review as Review));
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { readonly port: number };
  await kube.create(WEBHOOKS, configuration(kind, operation, `https://127.0.0.1:${port}/`, cert));
  return async () => {
    const anyway = { precondition: 'none', because: 'the test made it' } as const;
    await kube.delete(WEBHOOKS, { name: kind.crdName }, anyway);
    server.closeAllConnections();
    server.close();
  };
}

function answer({ request: { uid, name } }: Review, refusal?: Refusal) {
  const { code, reason } = refusal ?? {};
  const isRefused = name === refusal?.name;
  const status = { code, reason, message: `${name} may not change` };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, allowed: !isRefused, ...(isRefused ? { status } : {}) },
  };
}

const configuration = (
  { crdName, plural }: VersionedKind,
  operation: string,
  url: string,
  cert: Buffer,
) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: crdName },
  webhooks: [
    {
      name: 'refuse.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      timeoutSeconds: 30,
      clientConfig: { url, caBundle: cert.toString('base64') },
      rules: [
        { apiGroups: [GROUP], apiVersions: ['*'], resources: [plural], operations: [operation] },
      ],
    },
  ],
});

async function isRefusedNow(kube: KubeClient, kind: VersionedKind, { name }: Refusal) {
  const patch = { type: 'merge', body: { metadata: { labels: { refused: 'no' } } } } as const;
  const target = { namespace: NAMESPACE, name };
  try {
    await kube.patch(kind.ref(), target, patch, { dryRun: true, isOnce: true });
    return false;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    // An API server asks for a moment after the webhook was taken away, when nobody listens.
    const isRefused = [`${name} may not change`, 'failed calling webhook'].some((one) =>
      error.message.includes(one),
    );
    if (isRefused) return true;
    throw error;
  }
}
