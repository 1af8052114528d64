// The members of a cluster, and changes of them. One is found by its peer URLs, which are as we
// gave them; its name is empty until it has started.
import type { CallOptions, Caller } from './caller.ts';
import {
  type EtcdHeader,
  type Fields,
  fieldsIn,
  flagIn,
  headerIn,
  idIn,
  listIn,
  Odd,
  textIn,
  textsIn,
} from './fields.ts';

export interface EtcdMember {
  readonly id: string;
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

export interface MemberList {
  readonly header: EtcdHeader;
  readonly members: readonly EtcdMember[];
}

export interface MemberListOptions extends CallOptions {
  /** Confirmed by a quorum, or as the asked member knows it, quorum or not. */
  readonly isLinearizable: boolean;
}

/** More than any cluster can work with. */
const MEMBERS_MAX = 64;
const URLS_MAX = 32;

export class Members {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  list({ isLinearizable, ...options }: MemberListOptions): Promise<MemberList> {
    const path = '/v3/cluster/member/list';
    const body = { linearizable: isLinearizable };
    return this.#caller.ask({ path, body, read: LISTED }, options);
  }

  /** A member that votes at once: until it has started, it counts as one that is down. */
  async add(peerUrls: readonly string[], options?: CallOptions): Promise<EtcdMember> {
    return this.#add({ peerURLs: peerUrls }, options);
  }

  async addLearner(peerUrls: readonly string[], options?: CallOptions): Promise<EtcdMember> {
    return this.#add({ peerURLs: peerUrls, isLearner: true }, options);
  }

  async promote(id: string, options?: CallOptions): Promise<MemberList> {
    return this.#change('promote', { ID: id }, options);
  }

  async remove(id: string, options?: CallOptions): Promise<MemberList> {
    return this.#change('remove', { ID: id }, options);
  }

  async updatePeerUrls(
    id: string,
    peerUrls: readonly string[],
    options?: CallOptions,
  ): Promise<MemberList> {
    return this.#change('update', { ID: id, peerURLs: peerUrls }, options);
  }

  #change(what: string, body: object, options: CallOptions | undefined): Promise<MemberList> {
    const path = `/v3/cluster/member/${what}`;
    return this.#caller.ask({ path, body, isChange: true, read: LISTED }, options);
  }

  #add(body: object, options: CallOptions | undefined): Promise<EtcdMember> {
    const read = (answer: Fields): EtcdMember => member(fieldsIn(answer, 'member'));
    const path = '/v3/cluster/member/add';
    return this.#caller.ask({ path, body, isChange: true, read }, options);
  }
}

export const LISTED = (answer: Fields): MemberList => ({
  header: headerIn(answer),
  members: listIn(answer, 'members', MEMBERS_MAX, member),
});

function member(fields: Fields): EtcdMember {
  const id = idIn(fields, 'ID');
  if (id === '0') throw new Odd('ID');
  return {
    id,
    name: textIn(fields, 'name'),
    peerUrls: textsIn(fields, 'peerURLs', URLS_MAX),
    clientUrls: textsIn(fields, 'clientURLs', URLS_MAX),
    isLearner: flagIn(fields, 'isLearner'),
  };
}
