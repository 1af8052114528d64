// Opens a stream of messages of one member over gRPC, with failures as those of all other calls.
import { Failure } from '../../errors.ts';
import { GrpcRefusal, NoGrpc } from '../grpc/errors.ts';
import type { GrpcCall } from '../grpc/stream.ts';
import { failureFromStatus, failureFromTransport } from './failure.ts';
import type { EtcdEndpoint, Gateway } from './gateway.ts';

/** Undefined where nobody speaks gRPC. */
export async function openMessages(
  gateway: Gateway,
  endpoint: EtcdEndpoint,
  call: GrpcCall,
): Promise<AsyncIterable<Buffer> | undefined> {
  try {
    return await gateway.messages(endpoint, call);
  } catch (error) {
    call.signal.throwIfAborted();
    if (error instanceof NoGrpc) return undefined;
    if (error instanceof Failure) throw error;
    const about = { endpoint: endpoint.url, path: call.path, isChange: false };
    if (error instanceof GrpcRefusal) throw failureFromStatus(about, error);
    throw failureFromTransport(about, error);
  }
}
