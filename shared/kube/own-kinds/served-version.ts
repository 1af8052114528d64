// In which version an API server is asked for our own kinds. The functions are written in the first
// one. Where that is not served any more, what they send is converted, and so is what they read. No
// setting says so: the API server does, and who lives through a step of a release finds out alone.
import { isAbsence, isKubeError } from '../errors.ts';
import type { About, AboutResource, KubeRequest } from '../request.ts';
import { GROUP, LATER, type Version, WRITTEN } from './versions.ts';
import type { asSent, heard } from './words.ts';

/** Loaded when they are needed: whoever asks for help waits for nothing. */
type Words = { readonly asSent: typeof asSent; readonly heard: typeof heard };

export class ServedVersion {
  /** By resource: definitions change one after the other. */
  readonly #served = new Map<string, Version>();
  #words: Words | undefined;

  /** Requests about other objects are sent as they are. */
  async ask<Answer>(
    request: KubeRequest,
    send: (request: KubeRequest) => Promise<Answer>,
  ): Promise<Answer> {
    const { about } = request;
    if (!isOwn(about)) return send(request);
    const { resource } = about.ref;
    const version = this.#served.get(resource) ?? WRITTEN;
    try {
      return await send(await this.#in(version, request, about));
    } catch (error) {
      if (!isUnserved(error)) throw error;
      const other = version === WRITTEN ? LATER : WRITTEN;
      const asked = await this.#in(other, request, about);
      const answer = await send(asked).catch((second: unknown) => {
        throw isUnserved(second) ? error : second;
      });
      this.#served.set(resource, other);
      return answer;
    }
  }

  /** An answer in the words of who asked. */
  heard(about: About, answer: unknown): unknown {
    return isOwn(about) && this.#words !== undefined ? this.#words.heard(about, answer) : answer;
  }

  async #in(version: Version, request: KubeRequest, about: AboutResource): Promise<KubeRequest> {
    if (version === WRITTEN) return request;
    this.#words ??= await import('./words.ts');
    return this.#words.asSent(request, about);
  }
}

const isOwn = (about: About): about is AboutResource =>
  'ref' in about && about.ref.group === GROUP && about.ref.version === WRITTEN;

/** The path does not exist; what is told of an object says that the path does. */
const isUnserved = (error: unknown): boolean =>
  isKubeError(error, 'KUBE_NOT_FOUND') && !isAbsence(error);
