drop schema journal cascade;
