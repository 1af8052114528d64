// From a kind to its resource, for those who only know what an object says of itself. Asked once
// per group and version.
import type { Calls } from './calls.ts';
import { isKubeError } from './errors.ts';
import type { DiscoveredResource } from './objects.ts';
import type { CallOptions } from './request.ts';

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

export class Discovery {
  readonly #calls: Calls;
  readonly #known = new Map<string, readonly DiscoveredResource[]>();

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Undefined when the API server has no such kind; a kind that is missing is asked for again
   * next time.
   */
  async find(
    apiVersion: string,
    kind: string,
    options: CallOptions,
  ): Promise<DiscoveredResource | undefined> {
    const ofKind = (resource: DiscoveredResource): boolean => resource.kind === kind;
    const known = this.#known.get(apiVersion)?.find(ofKind);
    if (known !== undefined) return known;
    const resources = await this.#ask(apiVersion, options);
    this.#known.set(apiVersion, resources);
    return resources.find(ofKind);
  }

  async #ask(apiVersion: string, options: CallOptions): Promise<readonly DiscoveredResource[]> {
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    try {
      const { resources } = await this.#calls.json<ResourceList>(
        { about: { verb: 'get', path }, method: 'GET', path, repeat: 'always' },
        options,
      );
      return resources
        .filter(({ name }) => !name.includes('/'))
        .map(({ name, kind, namespaced, verbs }) => {
          return { group, version, resource: name, kind, isNamespaced: namespaced, verbs };
        });
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return [];
      throw error;
    }
  }
}
