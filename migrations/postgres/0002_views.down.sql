drop schema agent cascade;
drop schema chat cascade;
drop schema execution cascade;
drop schema projection cascade;
