// An id that tenants may share (a tool's version, a user) is unique inside a workspace, the others everywhere.
CREATE CONSTRAINT execution_id IF NOT EXISTS FOR (e:Execution) REQUIRE e.id IS UNIQUE;
CREATE CONSTRAINT tool_version_id IF NOT EXISTS FOR (v:ToolVersion) REQUIRE (v.tenant, v.workspace, v.id) IS UNIQUE;
CREATE CONSTRAINT user_id IF NOT EXISTS FOR (u:User) REQUIRE (u.tenant, u.workspace, u.id) IS UNIQUE;
CREATE CONSTRAINT invoked_call_id IF NOT EXISTS FOR ()-[i:INVOKED]-() REQUIRE i.callId IS UNIQUE;
CREATE CONSTRAINT approved_by_approval_id IF NOT EXISTS FOR ()-[a:APPROVED_BY]-() REQUIRE a.approvalId IS UNIQUE;
CREATE CONSTRAINT projection_cursor IF NOT EXISTS FOR (c:ProjectionCursor) REQUIRE c.projection IS UNIQUE;
