// One version of one definition on a scratch server, and its word on objects: whether it takes
// them, in its own words, and what it keeps of them.
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { recordOf } from './crd.ts';

export type Content = Readonly<Record<string, unknown>>;

export interface Refused {
  readonly sentence: string;
  /** Field and reason of each rule that it breaks. */
  readonly causes: readonly string[];
}

export type Judgement = { readonly kept: Content } | { readonly refused: Refused };

interface Place {
  readonly ref: ResourceRef;
  readonly type: { readonly apiVersion: string; readonly kind: string };
  readonly namespace: string | undefined;
  /** The group that its sentences are to name. */
  readonly shownGroup: string;
}

export class SchemaOnServer {
  readonly #kube: KubeClient;
  readonly #place: Place;
  readonly #signal: AbortSignal | undefined;

  constructor(kube: KubeClient, place: Place, signal: AbortSignal | undefined) {
    this.#kube = kube;
    this.#place = place;
    this.#signal = signal;
  }

  async judge(content: Content): Promise<Judgement> {
    const { ref, type, namespace, shownGroup } = this.#place;
    const name = String(recordOf(content['metadata'])['name']);
    // A schema may look at no more of the metadata than the name.
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
    const manifest = { ...content, ...type, metadata };
    try {
      const options = { dryRun: true, signal: this.#signal };
      const { object } = await this.#kube.create(ref, manifest, options);
      return { kept: object };
    } catch (error) {
      const isRefusal = isKubeError(error, 'KUBE_INVALID', 'KUBE_BAD_REQUEST');
      if (!isRefusal || error.answer === undefined) throw error;
      const { message, causes } = error.answer;
      const sentence = message.replaceAll(ref.group, shownGroup);
      const told = causes.map((cause) => `${cause.field}: ${cause.message}`);
      return { refused: { sentence, causes: told.length === 0 ? [sentence] : told } };
    }
  }
}

/** All that a schema has a say in. */
export function dataOf(content: Content): Content {
  return Object.fromEntries(Object.entries(content).filter(([key]) => !OTHER_FIELDS.has(key)));
}

const OTHER_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);
