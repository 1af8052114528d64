// Holds each object of one CRD against the new definition, and where that refuses it or drops some
// of it against the existing one too: only the difference is the upgrade's.
import { isDeepStrictEqual } from 'node:util';
import { isKubeError } from '../../../shared/kube/errors.ts';
import { type Crd, storageVersionOf, versionNamed } from './crd.ts';
import type { Held } from './held.ts';
import { lostFields } from './lost.ts';
import { type Content, dataOf, type Judgement, type SchemaOnServer } from './schema-on-server.ts';
import type { Scratch } from './scratch.ts';

export interface FoundObject {
  /** As `namespace/name`. */
  readonly name: string;
  /** In which it is stored, or was read. */
  readonly version: string;
  readonly content: Content;
}

type Side = 'before' | 'after';

export class Checker {
  readonly from: Crd;
  readonly to: Crd;
  readonly held: Held;
  readonly #scratch: Scratch;
  readonly #schemas = new Map<string, Promise<SchemaOnServer>>();
  readonly #target: string;
  /** The schema of the storage version is what it was. */
  readonly #isSame: boolean;

  constructor(from: Crd, to: Crd, held: Held, scratch: Scratch) {
    this.from = from;
    this.to = to;
    this.held = held;
    this.#scratch = scratch;
    this.#target = storageVersionOf(to);
    this.#isSame = hasSameSchema(from, to, this.#target);
  }

  /** The server lets nobody create objects for two seconds after a definition: all wait at once. */
  async prepare(): Promise<void> {
    await this.#schema('after', this.#target);
  }

  async take({ name, version, content }: FoundObject): Promise<void> {
    this.held.checked += 1;
    if (this.#isSame && version === this.#target) return;
    const judgements = await this.#judgeAfter(name, version, content);
    const refusals = judgements.flatMap((one) => ('refused' in one ? [one.refused] : []));
    const lost = judgements.flatMap((one) => lostIn(content, one));
    if (refusals.length === 0 && lost.length === 0) return;
    const before = await this.#judgeBefore(version, content);
    const known = before !== undefined && 'refused' in before ? before.refused.causes : [];
    const isNew = refusals.some(({ causes }) => causes.some((one) => !known.includes(one)));
    const [first] = refusals;
    if (first !== undefined && isNew) this.held.refused(name, first.sentence);
    else if (first !== undefined) this.held.refusedAlready(name);
    const gone = before === undefined ? [] : lostIn(content, before);
    this.held.lost(
      name,
      [...new Set(lost)].filter((field) => !gone.includes(field)),
    );
  }

  /** As it will be read in the version it is stored in, and then in the new storage version. */
  async #judgeAfter(
    name: string,
    version: string,
    content: Content,
  ): Promise<readonly Judgement[]> {
    const target = this.#target;
    const defined = versionNamed(this.to, version);
    if (version === target) return [await this.#judge('after', target, content)];
    const first = defined && (await this.#judge('after', version, content));
    // Nobody can write in a version that is not served.
    const told = first !== undefined && ('kept' in first || defined?.served === true);
    const own = told ? [first] : [];
    if (this.to.conversion.isWebhook) {
      this.held.unconverted(name);
      return own;
    }
    const read = first !== undefined && 'kept' in first ? first.kept : content;
    return [...own, await this.#judge('after', target, read)];
  }

  async #judgeBefore(version: string, content: Content): Promise<Judgement | undefined> {
    if (versionNamed(this.from, version) === undefined) return undefined;
    try {
      return await this.#judge('before', version, content);
    } catch (error) {
      // The server may take the existing definition no more; then all of an object counts as seen.
      if (isKubeError(error, 'KUBE_INVALID')) return undefined;
      throw error;
    }
  }

  async #judge(side: Side, version: string, content: Content): Promise<Judgement> {
    return (await this.#schema(side, version)).judge(content);
  }

  #schema(side: Side, version: string): Promise<SchemaOnServer> {
    const key = `${side} ${version}`;
    const known = this.#schemas.get(key);
    if (known !== undefined) return known;
    const crd = side === 'before' ? this.from : this.to;
    const made = this.#scratch.schema(side, crd, version);
    this.#schemas.set(key, made);
    return made;
  }
}

function hasSameSchema(from: Crd, to: Crd, version: string): boolean {
  const [before, after] = [from, to].map((crd) => ({
    schema: versionNamed(crd, version)?.schema,
    isPreserving: crd.spec['preserveUnknownFields'] === true,
  }));
  return before?.schema !== undefined && isDeepStrictEqual(before, after);
}

const lostIn = (content: Content, judgement: Judgement): readonly string[] =>
  'kept' in judgement ? lostFields(dataOf(content), dataOf(judgement.kept)) : [];
