drop function journal.load;
drop function journal.append;
drop table journal.snapshots;
