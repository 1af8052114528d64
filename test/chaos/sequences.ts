// How many messages a feed's stream has taken so far.
import { connect } from 'nats';
import { ANSWER_WITHIN, loginOf } from '../builders/nats-login.ts';
import { streamName } from '../../shared/feed/subjects.ts';
import { FEED } from './rig.ts';

export async function lastSequence(url: string): Promise<number> {
  const nats = await connect(loginOf(url));
  const answer = await nats.request(`$JS.API.STREAM.INFO.${streamName(FEED)}`, '', ANSWER_WITHIN);
  await nats.close();
  const { state } = answer.json<{ readonly state: { readonly last_seq: number } }>();
  return state.last_seq;
}
