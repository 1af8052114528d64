// A server to try definitions and objects on, which is not the one that is asked about. Definitions
// get a group of their own there, with one version each, so that nothing is converted; objects are
// only ever created with dry run.
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import { CRDS } from '../../../shared/kube/crds.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import { apiVersionOf, type KubeObject, type Manifest } from '../../../shared/kube/objects.ts';
import { CRD_GROUP, CRD_KIND, type Crd, recordOf, versionNamed } from './crd.ts';
import { SchemaOnServer } from './schema-on-server.ts';

/** An API server that may be written to. */
export interface ScratchServer {
  readonly kubeconfigPath: string;
  /** Whether it ends with us; on any other one everything is deleted again. */
  readonly isOurs: boolean;
  close(): Promise<void>;
}

export type StartScratch = (signal: AbortSignal | undefined) => Promise<ScratchServer>;

/** Its answer to an update. */
export interface UpdateAnswer {
  /** Undefined when it takes it. */
  readonly refusal: string | undefined;
  /** Why the existing definition could not be put there as it is. */
  readonly doubt: string | undefined;
}

const NAME = 'ballast-storage-audit';
/** A busy machine takes seconds to serve a new kind. */
const SERVED_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 25;
const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

export class Scratch {
  /** As it says itself, `v1.36.0`. */
  readonly version: string;
  readonly #server: ScratchServer;
  readonly #kube: KubeClient;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  /** No two users of one server meet. */
  readonly #mark = randomBytes(4).toString('hex');
  readonly #made: KubeObject[] = [];

  private constructor(
    server: ScratchServer,
    kube: KubeClient,
    version: string,
    signal: AbortSignal | undefined,
  ) {
    this.#server = server;
    this.#kube = kube;
    this.version = version;
    this.#signal = signal;
    this.#clock = systemClock;
  }

  static async open(server: ScratchServer, signal: AbortSignal | undefined): Promise<Scratch> {
    const { kubeconfigPath } = server;
    const kube = openKube({ kubeconfigPath, userAgent: NAME, fieldManager: NAME });
    try {
      const path = '/version';
      const { text } = await kube.raw({ method: 'GET', path, repeat: 'always', signal });
      const version = String(recordOf(JSON.parse(text))['gitVersion']);
      return new Scratch(server, kube, version, signal);
    } catch (error) {
      await kube.close();
      throw error;
    }
  }

  /** Why it would refuse a definition that is new; undefined when it takes it. */
  async refusalOfNew(to: Crd): Promise<string | undefined> {
    const group = this.#groupFor('new', to);
    const manifest = definition(to, group, to.spec);
    try {
      await this.#kube.create(CRDS, manifest, { dryRun: true, signal: this.#signal });
      return undefined;
    } catch (error) {
      return sentenceOf(error, group, to.group);
    }
  }

  async answerToUpdate(from: Crd, to: Crd): Promise<UpdateAnswer> {
    const group = this.#groupFor('update', from);
    const made = await this.#makeLike(from, group);
    const current = await this.#established(made.object);
    const manifest = definition(to, group, to.spec);
    const { resourceVersion } = current.metadata;
    const metadata = { ...manifest.metadata, resourceVersion };
    try {
      const options = { dryRun: true, signal: this.#signal };
      await this.#kube.update(CRDS, { ...manifest, metadata }, options);
      return { refusal: undefined, doubt: made.doubt };
    } catch (error) {
      return { refusal: sentenceOf(error, group, from.group), doubt: made.doubt };
    }
  }

  /** The schema of one version, ready to hold objects against it. A refusal is thrown. */
  async schema(side: 'before' | 'after', crd: Crd, version: string): Promise<SchemaOnServer> {
    const group = this.#groupFor(`${side}-${version}`, crd);
    const schema = versionNamed(crd, version)?.schema ?? ANYTHING;
    const isPreserving = crd.spec['preserveUnknownFields'] === true;
    const openAPIV3Schema = isPreserving ? { ...schema, ...ANYTHING } : schema;
    const spec = {
      scope: crd.scope,
      names: crd.spec['names'],
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    };
    await this.#make(definition(crd, group, spec));
    const ref = { group, version, resource: crd.resource };
    await this.#until(`${crd.resource}.${group} to be served`, async () => {
      try {
        await this.#kube.list(ref, { limit: 1, signal: this.#signal });
        return true;
      } catch (error) {
        if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
        throw error;
      }
    });
    const type = { apiVersion: apiVersionOf(ref), kind: crd.names.kind };
    const namespace = crd.scope === 'Namespaced' ? 'default' : undefined;
    const place = { ref, type, namespace, shownGroup: crd.group };
    return new SchemaOnServer(this.#kube, place, this.#signal);
  }

  async close(): Promise<void> {
    try {
      if (!this.#server.isOurs) await this.#deleteAll();
    } finally {
      await this.#kube.close();
      await this.#server.close();
    }
  }

  /** As it is; where it is not taken, with schemas that take anything. */
  async #makeLike(from: Crd, group: string): Promise<{ object: KubeObject; doubt?: string }> {
    const { preserveUnknownFields: _, ...spec } = from.spec;
    try {
      return { object: await this.#make(definition(from, group, spec)) };
    } catch (error) {
      const doubt = sentenceOf(error, group, from.group);
      const versions = from.versions.map(({ name, served, storage }) => {
        return { name, served, storage, schema: { openAPIV3Schema: ANYTHING } };
      });
      const loose = { scope: from.scope, names: from.spec['names'], versions };
      return { object: await this.#make(definition(from, group, loose)), doubt };
    }
  }

  /** With the stored versions of the one that it stands for: the names are settled then, too. */
  async #established({ metadata: { name } }: KubeObject): Promise<KubeObject> {
    const listed = this.#listed.get(name) ?? [];
    let last: KubeObject | undefined;
    await this.#until(`${name} to be established`, async () => {
      last = (await this.#kube.get(CRDS, { name }, { signal: this.#signal })) ?? undefined;
      return isEstablished(last);
    });
    if (last === undefined) throw new Error(`${name} is gone`);
    if (listed.length === 0) return last;
    return this.#kube.patch(
      CRDS,
      { name, subresource: 'status' },
      { type: 'merge', body: { status: { storedVersions: listed } } },
      { signal: this.#signal },
    );
  }

  readonly #listed = new Map<string, readonly string[]>();

  async #make(manifest: Manifest): Promise<KubeObject> {
    const { object } = await this.#kube.create(CRDS, manifest, { signal: this.#signal });
    this.#made.push(object);
    return object;
  }

  #groupFor(use: string, { group, resource, storedVersions }: Crd): string {
    const own = `${use}-${this.#mark}.${group}`;
    this.#listed.set(`${resource}.${own}`, storedVersions);
    return own;
  }

  async #deleteAll(): Promise<void> {
    for (const { metadata } of this.#made) {
      await this.#kube.delete(CRDS, { name: metadata.name }, { uid: metadata.uid });
    }
  }

  async #until(awaited: string, isSo: () => Promise<boolean>): Promise<void> {
    const endsAtMs = this.#clock.nowMs() + SERVED_WITHIN_MS;
    while (!(await isSo())) {
      this.#signal?.throwIfAborted();
      if (this.#clock.nowMs() > endsAtMs) throw new Error(`waited in vain for ${awaited}`);
      await this.#clock.sleep(ASK_EVERY_MS);
    }
  }
}

function isEstablished(crd: KubeObject | undefined): boolean {
  const { conditions } = recordOf(crd?.['status']);
  if (!Array.isArray(conditions)) return false;
  const all: readonly unknown[] = conditions;
  return all.some((one) => {
    const { type, status } = recordOf(one);
    return type === 'Established' && status === 'True';
  });
}

function definition(
  { resource, annotations }: Crd,
  group: string,
  spec: Readonly<Record<string, unknown>>,
): Manifest {
  return {
    apiVersion: `${CRD_GROUP}/v1`,
    kind: CRD_KIND,
    // Groups of Kubernetes' own need the annotation that says who approved them.
    metadata: { name: `${resource}.${group}`, annotations },
    spec: { ...spec, group },
  };
}

/** The API server's own words, about the group that it knows it by. */
function sentenceOf(error: unknown, group: string, shownGroup: string): string {
  const isRefusal = isKubeError(error, 'KUBE_INVALID', 'KUBE_BAD_REQUEST');
  if (!isRefusal || error.answer === undefined) throw error;
  return error.answer.message.replaceAll(group, shownGroup);
}
