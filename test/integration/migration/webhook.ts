// A conversion webhook of the kinds in test/builders/versioned-kind.ts, which can be told to be
// slow, to fail, to lie, to refuse objects and to die, and remembers what it was asked.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { json } from 'node:stream/consumers';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { COLOR_FIELD, type Conversion, CURRENT, OLD } from '../../builders/versioned-kind.ts';

/** One object that was to be converted. */
export interface ConvertedObject {
  readonly name: string;
  readonly uid: string;
  readonly from: string;
  readonly to: string;
}

/**
 * `review-uid`: answers another question than was asked. `object-uid`: the object becomes another
 * one. `drop-extra`: `spec.extra` is lost, which nobody but a comparison can notice.
 */
type Lie = 'review-uid' | 'object-uid' | 'drop-extra';

export interface Behaviour {
  readonly delayMs?: number;
  /** A status of HTTP; nothing is converted. */
  readonly failsWith?: number;
  readonly lie?: Lie;
  /** Names of the objects that it lies about; all when absent. */
  readonly liesAbout?: readonly string[];
  /** Names of the objects for which the conversion fails. */
  readonly refuses?: readonly string[];
  /** Dies instead of answering when it has been asked for so many objects since it was told. */
  readonly diesAfter?: number;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly KubeObject[];
  };
}

const NOBODY = 'f0000000-0000-4000-8000-000000000000';

export class ConversionWebhook {
  /** In the order in which it was asked. */
  readonly conversions: ConvertedObject[] = [];
  /** The `conversion` of the CRD. */
  readonly conversion: Conversion;
  readonly #port: number;
  readonly #tls: { readonly cert: Buffer; readonly key: Buffer };
  #behaviour: Behaviour = {};
  #askedWhenTold = 0;
  #server: Server | undefined;

  private constructor(port: number, tls: { readonly cert: Buffer; readonly key: Buffer }) {
    this.#port = port;
    this.#tls = tls;
    const url = `https://127.0.0.1:${port}/convert`;
    const clientConfig = { url, caBundle: tls.cert.toString('base64') };
    this.conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig, conversionReviewVersions: ['v1'] },
    };
  }

  /** It answers with the certificate that the API server made for itself, for 127.0.0.1. */
  static async start(plane: PlaneAddress): Promise<ConversionWebhook> {
    const [port, cert, key] = await Promise.all([
      freePort(),
      readFile(plane.caPath),
      readFile(plane.caPath.replace(/\.crt$/, '.key')),
    ]);
    const webhook = new ConversionWebhook(port, { cert, key });
    await webhook.comeBack();
    return webhook;
  }

  /** Forgets how it behaved before. */
  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour;
    this.#askedWhenTold = this.conversions.length;
  }

  /** Nobody listens any more; whoever waits for an answer is cut off. */
  die(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
    this.#server = undefined;
  }

  async comeBack(): Promise<void> {
    this.#server = createServer(this.#tls, (request, response) => {
      // A caller that no longer waits needs no answer.
      this.#answer(request, response).catch(() => response.destroy());
    });
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const review = (await json(request)) as Review;
    const { objects, desiredAPIVersion: to } = review.request;
    for (const { apiVersion: from, metadata } of objects) {
      this.conversions.push({ name: metadata.name, uid: metadata.uid, from, to });
    }
    const { delayMs = 0, failsWith, diesAfter = Infinity } = this.#behaviour;
    if (delayMs > 0) await systemClock.sleep(delayMs);
    if (this.conversions.length - this.#askedWhenTold > diesAfter) return this.die();
    if (failsWith !== undefined) {
      response.writeHead(failsWith).end('told to fail');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reviewed(review, this.#behaviour)));
  }
}

function reviewed({ apiVersion, kind, request }: Review, behaviour: Behaviour) {
  const { lie, liesAbout, refuses = [] } = behaviour;
  const uid = lie === 'review-uid' ? NOBODY : request.uid;
  const refused = request.objects.find(({ metadata }) => refuses.includes(metadata.name));
  if (refused !== undefined) {
    const message = `${refused.metadata.name} cannot be converted`;
    return { apiVersion, kind, response: { uid, result: { status: 'Failure', message } } };
  }
  const convertedObjects = request.objects.map((object) =>
    lied(
      converted(object, request.desiredAPIVersion),
      liesAbout?.includes(object.metadata.name) === false ? undefined : lie,
    ),
  );
  return { apiVersion, kind, response: { uid, convertedObjects, result: { status: 'Success' } } };
}

/** The colour moves to the field that it has in the other version. */
function converted(object: KubeObject, apiVersion: string): KubeObject {
  const [from, to] = [object.apiVersion, apiVersion].map((one) =>
    one.endsWith(`/${OLD}`) ? COLOR_FIELD[OLD] : COLOR_FIELD[CURRENT],
  );
  const { [from ?? '']: color, ...rest } = specOf(object);
  const spec = color === undefined ? rest : { ...rest, [to ?? '']: color };
  return { ...object, apiVersion, spec };
}

function lied(object: KubeObject, lie: Lie | undefined): KubeObject {
  if (lie === 'object-uid') return { ...object, metadata: { ...object.metadata, uid: NOBODY } };
  if (lie !== 'drop-extra') return object;
  const { extra: _, ...spec } = specOf(object);
  return { ...object, spec };
}

const specOf = (object: KubeObject): Readonly<Record<string, unknown>> =>
  (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
