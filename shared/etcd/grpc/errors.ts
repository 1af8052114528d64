// How a call over gRPC fails, beside what fails on its connection. In a file of their own: the code
// of gRPC is loaded by the first call.

/** Nobody there speaks gRPC, and nothing was carried out. */
export class NoGrpc extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = 'NoGrpc';
  }
}

/** The member has refused, with a number of gRPC. */
export class GrpcRefusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'GrpcRefusal';
    this.code = code;
  }
}
